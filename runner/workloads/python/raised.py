"""Where an exception was raised, in the words of a workload's author: frames of the model's own file count,
those of Nightjar and of PyTorch do not."""

import os
import pathlib
import traceback

HERE = pathlib.Path(__file__).resolve().parent
AUTHORS = ("models", "blocks", "adapters")  # folders of this one; the first is where a model's author writes


def place(error):
    """ "python/models/mine.py, line 12"; None if no frame is the author's."""
    found = _authors_frames(error)
    written = [frame for frame in found if frame.file.startswith(f"{HERE.name}/{AUTHORS[0]}/")] or found
    return written[-1].text if written else None


def shortened(error):
    """The traceback of the author's frames alone, in several lines; of all frames where none is."""
    kind = "".join(traceback.format_exception_only(type(error), error)).rstrip()
    found = _authors_frames(error)
    if not found:
        return "".join(traceback.format_exception(type(error), error, error.__traceback__)).rstrip()
    lines = [line for frame in found for line in (f"  {frame.text}", f"    {frame.code}") if line.strip()]
    return "\n".join(["Traceback, frames of Nightjar and of libraries left out:", *lines, kind])


class _Frame:
    def __init__(self, file, line, code):
        self.file, self.code = file, code or ""
        self.text = f"{file}, line {line}"


def _authors_frames(error):
    frames = [(frame.filename, frame.lineno, frame.line) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:  # raised by the import, which has no frame there
        frames.append((error.filename, error.lineno, (error.text or "").strip()))
    return [_Frame(name, line, code) for file, line, code in frames if (name := _authors_name(file))]


def _authors_name(file):
    """The file's name as its author knows it; None if it is not the author's."""
    path = pathlib.Path(os.path.realpath(file))
    for folder in AUTHORS:
        if path.is_relative_to(HERE / folder):
            return str(path.relative_to(HERE.parent))
    checkout = os.environ.get("NIGHTJAR_TORCHBENCH")
    if checkout and path.is_relative_to(os.path.realpath(checkout)):
        return str(path.relative_to(os.path.realpath(checkout)))
    return None
