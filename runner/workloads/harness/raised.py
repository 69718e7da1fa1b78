"""Finds where an exception was raised, for a workload's author. Frames of the model's own file
count, those of Nightjar and PyTorch do not."""

import linecache
import os
import pathlib
import sys
import traceback

WORKLOADS = pathlib.Path(__file__).resolve().parents[1]
AUTHORS = ("models", "blocks", "adapters"
           )  # its folders with authors' code; an author writes in the first
STEPS = (WORKLOADS / "harness/loop.py", WORKLOADS / "harness/case.py"
         )  # Nightjar's files that call a step

_made = None  # the author's file and line that made the step
_own = None  # a file of the author's that lies anywhere


def own(file):
    """This file is the author's, wherever it lies."""
    global _own
    _own = pathlib.Path(os.path.realpath(file))


def making_a_step():
    """Remembers the author's line that asks for a step, since such a step has no author's frame
    when it fails."""
    global _made
    frame = sys._getframe(1)
    while frame and not _authors_name(frame.f_code.co_filename, AUTHORS[:1]):
        frame = frame.f_back
    if frame:
        _made = frame.f_code.co_filename, frame.f_lineno


def made_by(*functions):
    """Remembers the first of these functions that the author wrote, unless a line is remembered."""
    global _made
    codes = [function.__code__ for function in functions if hasattr(function, "__code__")]
    _made = _made or next(((code.co_filename, code.co_firstlineno) for code in codes
                           if _authors_name(code.co_filename)), None)


def step_place():
    """Where the step was made; None if unknown."""
    return _made_frame().text if _made else None


def place(error):
    """ "models/mine.py, line 12"; None if no frame is the author's."""
    found = _authors_frames(error)
    written = [frame for frame in found if frame.is_models()] or found
    return written[-1].text if written else None


def shortened(error):
    """The traceback with the author's frames alone, or with all frames if none is the author's."""
    kind = "".join(traceback.format_exception_only(type(error), error)).rstrip()
    found = _authors_frames(error)
    if not found:
        return "".join(traceback.format_exception(type(error), error, error.__traceback__)).rstrip()
    lines = [
        line for frame in found for line in (f"  {frame.text}", f"    {frame.code}")
        if line.strip()]
    return "\n".join(["Traceback, frames of Nightjar and of libraries left out:", *lines, kind])


class _Frame:
    def __init__(self, file, line, code):
        self.file, self.code = file, code or ""
        self.text = f"{file}, line {line}"

    def is_models(self):
        return self.file.startswith(f"{AUTHORS[0]}/") or (_own and self.file == _own.name)


def _made_frame():
    file, line = _made
    return _Frame(_authors_name(file), line, linecache.getline(file, line).strip())


def _authors_frames(error):
    frames = [(frame.filename, frame.lineno, frame.line)
              for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error,
                  SyntaxError) and error.filename:  # raised by the import, which has no frame there
        frames.append((error.filename, error.lineno, (error.text or "").strip()))
    found = [
        _Frame(name, line, code) for file, line, code in frames if (name := _authors_name(file))]
    if _made and frames and _is_of_a_step(frames[-1][0]) and not any(frame.is_models()
                                                                     for frame in found):
        found.insert(0, _made_frame())
    return found


def _is_of_a_step(innermost):
    """Whether an exception from this file may come from a step, and not from Nightjar's own
    code."""
    path = pathlib.Path(os.path.realpath(innermost))
    return not path.is_relative_to(WORKLOADS) or path in STEPS or _authors_name(
        innermost) is not None


def _authors_name(file, folders=AUTHORS):
    """The file's name as its author knows it; None if the file is not the author's."""
    path = pathlib.Path(os.path.realpath(file))
    if path == _own:
        return path.name
    for folder in folders:
        if path.is_relative_to(WORKLOADS / folder):
            return str(path.relative_to(WORKLOADS))
    checkout = os.environ.get("NIGHTJAR_TORCHBENCH")
    if checkout and path.is_relative_to(os.path.realpath(checkout)):
        return str(path.relative_to(os.path.realpath(checkout)))
    return None
