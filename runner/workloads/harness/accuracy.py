"""Whether a compiled step computes what the eager one does, by the rules of PyTorch's dynamo
runners: `same` in torch/_dynamo/utils.py, and `collect_results` in benchmarks/dynamo/common.py of
PyTorch 2.13.

Integers, booleans and texts have to be equal. A tensor of floating-point numbers passes if all its
elements are close, or if its root-mean-square distance from double precision is not much more than
eager's own. A step that still draws random numbers has no double to compare with, since these
differ between precisions. Its tensors pass with a cosine of at least .99.

One rule is ours. Batch norms over a few values blow rounding errors up, so that a correct compiled
step can be farther from double precision than eager happens to be. Before a result counts as wrong,
eager runs a few times more with each parameter changed by its last bit, in both layouts of images.
What that moves, the compiled step may move as well. """

import collections
import dataclasses
import math

import torch

# Relative and absolute, by type. Those of full precision are of benchmarks/dynamo/torchbench.py
# (get_tolerance_and_cosine_flag), half ones of its huggingface.py and timm_models.py at inference.
CLOSE = {torch.float64: 1e-4, torch.float32: 1e-4, torch.bfloat16: 1e-3, torch.float16: 1e-3}
LOOSE = 1e-3  # torchbench.py's of autocast and of training on a GPU; also of any other type
BETTER = 4e-2  # `same`'s, where eager's result has NaNs that neither of the others has
COSINE = 0.99
FEW = 1000  # elements; `same` allows smaller tensors more
DEEPEST = 8  # containers in one another that are looked into


GRADIENT, PARAMETER, BUFFER = "gradient of ", "parameter ", "buffer "
WRAPPED = "_orig_mod."  # begins the names of a compiled module's parameters


def difference(eager, compiled, precision, device, double=lambda: None, nudged=tuple):
    """Empty, or one line on the first result that differs. Each side has tensors and plain values
    by name. `double()` is called if tensors are not close, and may return None. `nudged()` is
    called if they are far from that, too: eager's results, once for each change of parameters by a
    bit. """
    on_gpu = device == "cuda" and any(name.startswith(GRADIENT) for name in eager)
    least = LOOSE if precision == "amp" or on_gpu else 0
    equal_nan = precision != "fp32"  # as in dynamo's runners
    if eager.keys() != compiled.keys():
        odd = sorted(eager.keys() ^ compiled.keys())[0]
        return (f"eager gave {len(eager)} results and the compiled step {len(compiled)}; "
                f"only one gave {odd}")
    exact = moved = None
    for name, wanted in eager.items():
        found = compiled[name]
        if not (isinstance(wanted, torch.Tensor) and isinstance(found, torch.Tensor)):
            if type(wanted) is not type(found) or wanted != found:
                return f"{name} is {found!r} instead of {wanted!r}"[:200]
            continue
        if (wanted.shape, wanted.dtype) != (found.shape, found.dtype):
            return (f"{name} is {found.dtype} of {tuple(found.shape)} "
                    f"instead of {wanted.dtype} of {tuple(wanted.shape)}")
        if not is_inexact(wanted):
            if reason := unequal(wanted, found):
                return f"{name} of {tuple(wanted.shape)}: {reason}"
            continue
        close = max(least, CLOSE.get(wanted.dtype, LOOSE))
        ours, theirs = plain(found), plain(wanted)
        if torch.allclose(theirs, ours, atol=close, rtol=close, equal_nan=equal_nan):
            continue
        exact = exact or double() or {}
        reference = exact.get(name)
        reference = plain(reference) if isinstance(reference, torch.Tensor) else None
        reason = distance(theirs, ours, reference, close, multiple(wanted), equal_nan)
        if reason and reference is not None:
            moved = nudged() if moved is None else moved
            if any(not distance(plain(one[name]), ours, reference, close, multiple(wanted),
                                equal_nan) for one in moved):
                reason = ""
        if reason:
            return f"{name} of {tuple(wanted.shape)}: {reason}"
    return ""


def is_inexact(tensor):
    return tensor.is_floating_point() or tensor.is_complex()


def plain(tensor):
    """The values in double precision, dense, a complex number as two."""
    dense = tensor.to_dense() if tensor.layout != torch.strided else tensor
    return torch.view_as_real(dense.resolve_conj()).double() if dense.is_complex() else (
        dense.double())


def unequal(wanted, found):
    """Empty, or how many elements of these exact types differ."""
    wanted, found = (one.int_repr() if one.is_quantized else one for one in (wanted, found))
    wanted, found = (one.to_dense() if one.layout != torch.strided else one
                     for one in (wanted, found))
    others = int((wanted != found).sum())
    return f"{others} of {wanted.numel()} elements differ" if others else ""


def multiple(tensor):
    """How many times eager's distance from double precision a compiled step may have."""
    half = tensor.dtype in (torch.float16, torch.bfloat16)
    one_by_one = tensor.ndim == 4 and tensor.shape[-2:] == (1, 1)
    return 3.0 if half or tensor.numel() < FEW or one_by_one else 2.0


def distance(wanted, found, exact, close, times, equal_nan=False):
    """Empty, or why `found` is too far from `wanted`; all are double."""
    if exact is None:
        cosine = float(
            torch.nn.functional.cosine_similarity(wanted.flatten(), found.flatten(), dim=0,
                                                  eps=1e-12))
        return ("" if cosine >= COSINE
                else f"its cosine with eager's is {cosine:.4g}, less than {COSINE}")
    if (wanted.isnan().any() and not found.isnan().any() and not exact.isnan().any()
            and torch.allclose(exact, found, atol=BETTER, rtol=BETTER)):
        return ""
    theirs, ours = rms(exact - wanted), rms(exact - found)
    if ours <= times * theirs + close / 10 or equal_nan and math.isnan(theirs) and math.isnan(ours):
        return ""
    return f"it is {ours:.3g} away from double precision, eager {theirs:.3g}"


def rms(tensor):
    return float(tensor.square().mean().sqrt())


def evidence(case, output):
    """The results of an iteration by name: its output and, of a step that trains, gradients,
    updated parameters and buffers. Empty if the iteration left nothing to compare. Tensors are
    copies in the host's memory, where two sides have room."""
    results = {f"output {path}".rstrip(): value for path, value in leaves(output)}
    for module in case.compared_modules():
        parameters = [(name.replace(WRAPPED, ""), parameter)
                      for name, parameter in torch.nn.Module.named_parameters(module)]
        if all(parameter.grad is None for _, parameter in parameters):
            continue
        for name, parameter in parameters:
            gradient = parameter.grad  # none counts as zero
            results[GRADIENT + name] = (torch.zeros_like(parameter) if gradient is None
                                        else gradient)
            results[PARAMETER + name] = parameter
        for name, buffer in torch.nn.Module.named_buffers(module):
            results[BUFFER + name.replace(WRAPPED, "")] = buffer
    return {name: value.detach().to("cpu", copy=True) if isinstance(value, torch.Tensor) else value
            for name, value in results.items()}


def leaves(value, path="0", within=()):
    """(path, leaf) of all tensors and plain values in an output, however it is nested: containers,
    data classes, and objects by their attributes. None is no result."""
    if isinstance(value, (torch.Tensor, bool, int, str, bytes)):
        yield path, value
    elif isinstance(value, (float, complex)):
        yield path, torch.tensor(value, dtype=torch.complex128
                                 if isinstance(value, complex) else torch.float64)
    elif len(within) < DEEPEST and id(value) not in within:
        for name, inner in parts_of(value):
            yield from leaves(inner, f"{path}.{name}", (*within, id(value)))


def parts_of(value):
    """The (name, value) that a container or an object holds; a module's parameters are no
    output."""
    if isinstance(value, dict):
        return sorted(((str(name), inner) for name, inner in value.items()),
                      key=lambda part: part[0])
    if isinstance(value, (list, tuple, collections.deque)):
        return enumerate(value)
    if isinstance(value, (set, frozenset)):
        return enumerate(sorted(value, key=repr))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, (type, torch.nn.Module)) or callable(value):
        return []
    return sorted(getattr(value, "__dict__", {}).items())


def tensors_in(output):
    return [leaf for _, leaf in leaves(output) if isinstance(leaf, torch.Tensor)]
