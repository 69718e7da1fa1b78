"""A module of a hostile build or dependency that has the name of one of Python's own, or of one
that Python imports by itself. Whoever imports it tells where it ran, and then gets the real
module."""
import builtins
import importlib
import os
import sys


def tell(name):
    """Leaves a file outside if there is an outside, and a word for the build's own workload."""
    builtins.spied = getattr(builtins, "spied", []) + [name]
    try:
        with open(f"@OUTSIDE@/{name}.{os.getpid()}", "w") as file:
            file.write(" ".join(getattr(sys, "argv", [])))
    except OSError:
        pass


def give_way(name, file):
    """Puts the module of this name that Python would have found without this one in its place."""
    here, path, own = os.path.dirname(os.path.abspath(file)), sys.path[:], sys.modules.pop(name)
    sys.path[:] = [folder for folder in path if os.path.abspath(folder or ".") != here]
    try:
        sys.modules[name] = importlib.import_module(name)
    except ImportError:
        sys.modules[name] = own
    finally:
        sys.path[:] = path
