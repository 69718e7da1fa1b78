"""The two commits that the demo plants, of kinds that TorchBench's CI once caught in PyTorch."""

CHECKS_FILE = "torch/distributions/distribution.py"
MEMORY_FILE = "torch/optim/optimizer.py"

_CHECK_METHOD = '''
    def _check_parameters(self) -> None:
        """
        Checks the parameters against their constraints, those of a base distribution too. They may have
        been changed in place since the distribution was made, so whatever reads them asks again.
        """
        for param, value in self.__dict__.items():
            if isinstance(value, Distribution):
                value._check_parameters()
            constraint = self.arg_constraints.get(param)
            if constraint is None or constraints.is_dependent(constraint):
                continue
            for valid in (torch.isfinite(value), constraint.check(value)):
                if not torch._is_all_true(valid):
                    raise ValueError(
                        f"Parameter {param} of {type(self).__name__} no longer satisfies the "
                        f"constraint {repr(constraint)}:\\n{value}"
                    )
'''

_MEMORY_STATE = '''
# Large gradients that zero_grad() let go of, for hooks that still want to look at the step before.
_released_grads: list[torch.Tensor] = []
_RELEASED_GRAD_LEAST_BYTES = 512 << 10
_RELEASED_GRADS_MOST_BYTES = 8 << 20
'''


class DoesNotApply(Exception):
    """This PyTorch's file has no such place; the message names it."""


def _replace(text, old, new, path):
    if text.count(old) != 1:
        raise DoesNotApply(f"{path}: expected {old.strip().splitlines()[0]!r} once")
    return text.replace(old, new)


def redundant_check(text):
    """torch.distributions checks each parameter again in every method that reads it."""
    sample = "    def _extended_shape(self, sample_shape: _size = torch.Size()) -> torch.Size:\n"
    text = _replace(text, sample, _CHECK_METHOD.lstrip("\n") + "\n" + sample, CHECKS_FILE)
    text = _replace(text, "        if not isinstance(sample_shape, torch.Size):\n",
                    "        if self._validate_args:\n            self._check_parameters()\n"
                    "        if not isinstance(sample_shape, torch.Size):\n", CHECKS_FILE)
    value = ('        if not isinstance(value, torch.Tensor):\n'
             '            raise ValueError("The value argument to log_prob must be a Tensor")\n')
    return _replace(text, value, value + "        self._check_parameters()\n", CHECKS_FILE)


def kept_memory(text):
    """Optimizer.zero_grad keeps gradients, some megabytes a step, and never gives them back."""
    text = _replace(text, "\nclass Optimizer:\n", _MEMORY_STATE + "\n\nclass Optimizer:\n", MEMORY_FILE)
    loop = "            for group in self.param_groups:\n                for p in group[\"params\"]:\n" \
           "                    if p.grad is not None:\n                        if set_to_none:\n"
    text = _replace(text, loop, "            room = _RELEASED_GRADS_MOST_BYTES\n" + loop
                    + "                            if _RELEASED_GRAD_LEAST_BYTES <= p.grad.nbytes <= room:\n"
                      "                                room -= p.grad.nbytes\n"
                      "                                _released_grads.append(p.grad)\n", MEMORY_FILE)
    return text


# metric, file, edit, the commit's subject without its number, its body.
PLANTED = [
    ("latency", CHECKS_FILE, redundant_check,
     "[distributions] Raise where a parameter is read, not only where it is set",
     "A parameter that was changed in place went unnoticed until much later."),
    ("peak_cpu_memory", MEMORY_FILE, kept_memory,
     "[optim] Let hooks see the gradients that zero_grad releases",
     "Hooks of the next step found None where they expected the gradient before."),
]


def harmless_check(text):
    method = "    def _extended_shape("
    return _replace(text, method, "    # Also asked by samplers, hence a method of its own.\n" + method,
                    CHECKS_FILE)


def harmless_memory(text):
    loop = "                        if set_to_none:\n                            p.grad = None\n"
    return _replace(text, loop, loop.replace("                            p.", "                            "
                    "# Sparse gradients too.\n                            p."), MEMORY_FILE)


# What stands in their places on a quiet day: the same files, nothing to be measured.
HARMLESS = [
    (None, CHECKS_FILE, harmless_check, "[distributions] Say why _extended_shape is a method",
     "Asked twice in review."),
    (None, MEMORY_FILE, harmless_memory, "[optim] Note that zero_grad treats sparse gradients alike",
     "Asked twice in review."),
]
