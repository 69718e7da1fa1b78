"""Whether a compiled step computes what the eager one does, by the rule of PyTorch's dynamo
runners.

The rule is `same` in torch/_dynamo/utils.py and benchmarks/dynamo of PyTorch 2.13. A tensor passes
if all its elements are close, or if its root-mean-square distance from double precision is not much
more than eager's own. A step that draws random numbers has no double to compare with, since these
differ between precisions. Its tensors pass with a cosine of at least .99. """

import torch

CLOSE = {"fp32": 1e-4, "bf16": 1e-3, "amp": 1e-3}  # relative and absolute
MULTIPLE = 3.0  # of eager's distance; dynamo's is 2 for large float32 tensors
COSINE = 0.99


def difference(eager, compiled, precision, double):
    """Empty, or one line on the first tensor that differs. Each side has tensors by name.
    `double()` is called if they are not close, and may return None."""
    if eager.keys() != compiled.keys():
        return f"eager gave {len(eager)} tensors and the compiled step {len(compiled)}"
    close, exact = CLOSE[precision], None
    for name, wanted in eager.items():
        found = compiled[name]
        if (wanted.shape, wanted.dtype) != (found.shape, found.dtype):
            return (f"{name} is {found.dtype} of {tuple(found.shape)} "
                    f"instead of {wanted.dtype} of {tuple(wanted.shape)}")
        if torch.allclose(wanted.double(), found.double(), atol=close, rtol=close):
            continue
        exact = exact or double() or {}
        reason = distance(wanted.double(), found.double(), exact.get(name), close)
        if reason:
            return f"{name} of {tuple(wanted.shape)}: {reason}"
    return ""


def distance(wanted, found, exact, close):
    """Empty, or why `found` is too far from `wanted`; all are double."""
    if exact is None:
        cosine = float(
            torch.nn.functional.cosine_similarity(wanted.flatten(), found.flatten(), dim=0,
                                                  eps=1e-12))
        return ("" if cosine >= COSINE
                else f"its cosine with eager's is {cosine:.4g}, less than {COSINE}")
    theirs, ours = rms(exact - wanted), rms(exact - found)
    if ours <= MULTIPLE * theirs + close / 10:
        return ""
    return f"it is {ours:.3g} away from double precision, eager {theirs:.3g}"


def rms(tensor):
    return float(tensor.square().mean().sqrt())


def evidence(case, output):
    """The results of an iteration by name: its output, and the gradients that it left."""
    tensors = {f"output {i}": tensor for i, tensor in enumerate(tensors_in(output))}
    for module in case.modules:
        for name, parameter in module.named_parameters():
            if parameter.grad is not None:
                tensors[f"gradient of {name}"] = parameter.grad
    return {
        name: tensor.detach().clone()
        for name, tensor in tensors.items()
        if tensor.is_floating_point()}


def tensors_in(output):
    if isinstance(output, torch.Tensor):
        yield output
    elif isinstance(output, dict):
        yield from tensors_in(list(output.values()))
    elif isinstance(output, (list, tuple)):
        for item in output:
            yield from tensors_in(item)
