"""Finds out who keeps tensors alive: the module, class or function whose attribute leads to
them."""

import gc
import inspect
import linecache
import os
import re
import sys
import types
from dataclasses import dataclass

DEEPEST = 4  # containers in one another that are looked through


@dataclass(frozen=True, order=True)
class Holder:
    name: str  # "torch.optim.optimizer._seen"
    place: str = ""  # "torch/optim/optimizer.py, line 41", where that is known


def holders_of(tensors):
    """Yields (Holder, the tensors that it holds). Tensors that only frames or C++ hold are in
    none."""
    found = {}
    wanted = {id(tensor) for tensor in tensors}
    for container in gc.get_referrers(*tensors):
        if container is tensors or isinstance(container, types.FrameType):
            continue
        held = {id(one) for one in gc.get_referents(container)} & wanted
        holder = holder_of(container, held, DEEPEST)
        if holder:
            found.setdefault(holder, set()).update(held)
    for holder, held in sorted(found.items()):
        yield holder, [tensor for tensor in tensors if id(tensor) in held]


def holder_of(container, held, deepest):
    """What holds these ids in this container, or None."""
    if isinstance(container, dict):
        module = sys.modules.get(container.get("__name__"))
        if isinstance(module, types.ModuleType) and vars(module) is container:
            return module_holder(module, held)
    elif isinstance(container, types.FunctionType):
        code = container.__code__
        return Holder(f"{container.__module__}.{container.__qualname__}",
                      place(code.co_filename, code.co_firstlineno))
    elif not isinstance(container, (list, tuple, set, frozenset, types.CellType)):
        return class_holder(container, held)
    if deepest == 0:
        return None
    for outer in gc.get_referrers(container):
        if isinstance(outer, types.FrameType):
            continue
        attributes = isinstance(container, dict) and (
            isinstance(outer, type) or getattr(outer, "__dict__", None) is container)
        holder = class_holder(outer, held) if attributes else holder_of(outer, {id(container)},
                                                                        deepest - 1)
        if holder:
            return holder
    return None


def module_holder(module, held):
    names = [key for key, value in vars(module).items() if id(value) in held]
    if not names:
        return Holder(module.__name__)
    file = getattr(module, "__file__", None) or ""
    return Holder(f"{module.__name__}.{names[0]}", place(file, line_of(file, names[0])))


def class_holder(container, held):
    """The holder if it is an instance, or a class that holds it itself; None for a builtin."""
    kind = container if isinstance(container, type) else type(container)
    if kind.__module__ == "builtins":
        return None
    attributes = getattr(container, "__dict__", {})
    names = [key for key, value in list(attributes.items()) if id(value) in held]
    try:
        found = place(inspect.getsourcefile(kind) or "", inspect.getsourcelines(kind)[1])
    except (OSError, TypeError):  # of no file
        found = ""
    return Holder(".".join([kind.__module__, kind.__qualname__, *names[:1]]), found)


def line_of(file, name):
    """The line that first assigns a module's name; 0 if none does."""
    assigns = re.compile(rf"{re.escape(name)}\s*(?::[^=]*)?=")
    for number, line in enumerate(linecache.getlines(file), 1):
        if assigns.match(line):
            return number
    return 0


def place(file, line):
    """File and line, as short as an import has the file."""
    if not file or not line:
        return ""
    folders = [folder for folder in map(os.path.abspath, sys.path)
               if file.startswith(folder + os.sep)]
    return f"{os.path.relpath(file, max(folders, key=len)) if folders else file}, line {line}"
