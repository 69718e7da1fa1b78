"""The two commits that the demo plants, of kinds that TorchBench's CI once caught in PyTorch."""

CHECKS_FILE = "torch/distributions/distribution.py"
MEMORY_FILE = "torch/optim/optimizer.py"

_CHECK_METHOD = '''
    def _check_parameters(self) -> None:
        """
        Checks the parameters against their constraints, those of a base distribution too. \
They may have
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
# Gradients of each optimizer's first steps, for hooks that look for a divergence at the start.
_first_grads: list[torch.Tensor] = []
_FIRST_STEPS = 10
'''


class DoesNotApply(Exception):
    """This PyTorch's file lacks the code to edit; the message names it."""


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
    """Optimizers keep copies of their first steps' gradients and never give them back. This should
    show in memory only. Copies of every step would slow the training down by page faults. Kept
    gradients themselves would leave a heap that the allocator trims and faults in again at each
    step."""
    text = _replace(text, "\nclass Optimizer:\n", _MEMORY_STATE + "\n\nclass Optimizer:\n",
                    MEMORY_FILE)
    loop = "            for group in self.param_groups:\n" \
           "                for p in group[\"params\"]:\n" \
           "                    if p.grad is not None:\n                        if set_to_none:\n"
    count = "            self._steps_kept = getattr(self, \"_steps_kept\", 0) + 1\n"
    keep = "                            if self._steps_kept <= _FIRST_STEPS:\n" \
           "                                _first_grads.append(p.grad.clone())\n"
    return _replace(text, loop, count + loop + keep, MEMORY_FILE)


# metric, file, edit, the commit's subject without its number, its body.
PLANTED = [
    ("latency", CHECKS_FILE, redundant_check,
     "[distributions] Raise where a parameter is read, not only where it is set",
     "A parameter that was changed in place went unnoticed until much later."),
    ("peak_cpu_memory", MEMORY_FILE, kept_memory,
     "[optim] Let hooks see the gradients of the first steps",
     "A divergence at the start could not be looked into once zero_grad had run."),
]


def harmless_check(text):
    method = "    def _extended_shape("
    return _replace(text, method,
                    "    # Also asked by samplers, hence a method of its own.\n" + method,
                    CHECKS_FILE)


def harmless_memory(text):
    loop = "                        if set_to_none:\n                            p.grad = None\n"
    indent = " " * 28
    noted = loop.replace(f"{indent}p.", f"{indent}# Sparse gradients too.\n{indent}p.")
    return _replace(text, loop, noted, MEMORY_FILE)


# On a quiet day these take their places: edits of the same files that change nothing measurable.
HARMLESS = [
    (None, CHECKS_FILE, harmless_check, "[distributions] Say why _extended_shape is a method",
     "Asked twice in review."),
    (None, MEMORY_FILE, harmless_memory,
     "[optim] Note that zero_grad treats sparse gradients alike", "Asked twice in review."),
]
