"""Finds out who keeps tensors alive: the module or class whose attribute leads to them."""

import gc
import sys
import types

DEEPEST = 4  # containers in one another that are looked through


def holders_of(tensors):
    """Yields (name, the tensors that it holds), as "torch.optim.optimizer._seen". Tensors that only
    frames or C++ hold are in none."""
    found = {}
    wanted = {id(tensor) for tensor in tensors}
    for container in gc.get_referrers(*tensors):
        if container is tensors or isinstance(container, types.FrameType):
            continue
        held = {id(one) for one in gc.get_referents(container)} & wanted
        name = name_of(container, held, DEEPEST)
        if name:
            found.setdefault(name, set()).update(held)
    for name, held in sorted(found.items()):
        yield name, [tensor for tensor in tensors if id(tensor) in held]


def name_of(container, held, deepest):
    """The dotted name of what holds these ids in this container, or None."""
    if isinstance(container, dict):
        module = sys.modules.get(container.get("__name__"))
        if isinstance(module, types.ModuleType) and vars(module) is container:
            names = [key for key, value in container.items() if id(value) in held]
            return f"{module.__name__}.{names[0]}" if names else module.__name__
    elif not isinstance(container, (list, tuple, set, frozenset, types.CellType)):
        kind = type(container)
        return None if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    if deepest == 0:
        return None
    for outer in gc.get_referrers(container):
        if isinstance(outer, types.FrameType):
            continue
        name = name_of(outer, {id(container)}, deepest - 1)
        if name:
            return name
    return None
