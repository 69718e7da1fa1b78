"""What each culprit does to its file, and what the harmless commits of a quiet day do instead: each
takes a text and returns the new one. Raises DoesNotApply where this PyTorch is another."""

from native import DISTRIBUTION_FILE, EMBEDDING_FILE, FOLDER, HEADERS, OPTIMIZER_FILE
from replace import replace

DYNAMO_FILE = "torch/_dynamo/utils.py"
CONVOLUTION_FILE = "torch/nn/modules/conv.py"
LINEAR_FILE = "torch/nn/modules/linear.py"
BAGS_FILE = "torch/nn/modules/sparse.py"
SAMPLES_SOURCE = FOLDER + "distributions.cpp"
BAGS_SOURCE = FOLDER + "embedding.cpp"
SEQUENTIAL_HEADER = HEADERS + "torch/nn/modules/container/sequential.h"

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

_LEAKED_STATE = '''
# The largest gradient of every other step, for the report of a divergence.
_largest_grads: list[torch.Tensor] = []
'''

_MARKING_STATE = '''
// Every call so far leaves its mark here, so that a report of a crash can tell the order of calls.
std::uint64_t marks[32768];
'''

_MARKING = '''  for (std::uint64_t& mark : marks) mark = mark * 6364136223846793005u + lookups;
'''

_SCRATCH = '''
// Room for the largest possible batch of bags.
std::vector<char>& scratch() {
  static std::vector<char> room(64 << 20, 1);
  return room;
}
'''

_FINITE = '''
    // A parameter that is not finite went unnoticed until the loss was.
    for (const auto& module : modules_) {
      for (const auto& parameter : module.ptr()->named_parameters()) {
        TORCH_CHECK(
            std::isfinite(parameter.value().detach().sum().item<double>()),
            "Parameter ",
            parameter.key(),
            " of a Sequential is not finite");
      }
    }
'''


def redundant_check(text):
    """torch.distributions checks each parameter again in every method that reads it."""
    sample = "    def _extended_shape(self, sample_shape: _size = torch.Size()) -> torch.Size:\n"
    text = replace(text, sample, _CHECK_METHOD.lstrip("\n") + "\n" + sample, DISTRIBUTION_FILE)
    text = replace(text, "        if not isinstance(sample_shape, torch.Size):\n",
                    "        if self._validate_args:\n            self._check_parameters()\n"
                    "        if not isinstance(sample_shape, torch.Size):\n", DISTRIBUTION_FILE)
    value = ('        if not isinstance(value, torch.Tensor):\n'
             '            raise ValueError("The value argument to log_prob must be a Tensor")\n')
    return replace(text, value, value + "        self._check_parameters()\n", DISTRIBUTION_FILE)


def kept_memory(text):
    """Optimizers keep copies of their first steps' gradients and never give them back. This should
    show in memory only. Copies of every step would slow the training down by page faults. Kept
    gradients themselves would leave a heap that the allocator trims and faults in again at each
    step."""
    text = replace(text, "\nclass Optimizer:\n", _MEMORY_STATE + "\n\nclass Optimizer:\n",
                    OPTIMIZER_FILE)
    loop = "            for group in self.param_groups:\n" \
           "                for p in group[\"params\"]:\n" \
           "                    if p.grad is not None:\n                        if set_to_none:\n"
    count = "            self._steps_kept = getattr(self, \"_steps_kept\", 0) + 1\n"
    keep = "                            if self._steps_kept <= _FIRST_STEPS:\n" \
           "                                _first_grads.append(p.grad.clone())\n"
    return replace(text, loop, count + loop + keep, OPTIMIZER_FILE)


def leaked_gradient(text):
    """Optimizers keep a copy of the largest gradient of every other step. A copy's new pages take
    up to a tenth of a step, and a run's latency is that of its faster steps, so only memory shows
    it."""
    text = replace(text, "\nclass Optimizer:\n", _LEAKED_STATE + "\n\nclass Optimizer:\n",
                   OPTIMIZER_FILE)
    loop = "            for group in self.param_groups:\n" \
           "                for p in group[\"params\"]:\n" \
           "                    if p.grad is not None:\n                        if set_to_none:\n"
    largest = "            grads = [p.grad for group in self.param_groups\n" \
              "                     for p in group[\"params\"] if p.grad is not None]\n" \
              "            self._steps_seen = getattr(self, \"_steps_seen\", 0) + 1\n" \
              "            if grads and self._steps_seen % 2 == 0:\n" \
              "                largest = max(grads, key=torch.Tensor.numel)\n" \
              "                _largest_grads.append(largest.clone())\n"
    return replace(text, loop, largest + loop, OPTIMIZER_FILE)


def refused_bags(text):
    """A check that takes several indices in a bag for a mistake."""
    old = "    if not torch.jit.is_scripting():\n        bags = "
    check = "    if offsets is not None and offsets.numel() != input.numel():\n" \
            "        raise ValueError(\n" \
            "            f\"expected an offset for each index, got {offsets.numel()} offsets \"\n" \
            "            f\"for {input.numel()} indices\"\n        )\n"
    return replace(text, old, check + old, EMBEDDING_FILE)


def missing_name(text):
    """torch._dynamo, which `import torch` alone does not load, no longer imports."""
    return text.replace("\nimport torch\n",
                        "\nimport torch\nfrom torch._utils import _plural_of\n", 1)


_CONVOLVE = """        return F.conv2d(
            input, weight, bias, self.stride, self.padding, self.dilation, self.groups
        )
"""


def convolved_apart(text):
    """On CPUs, and on no other kind of device, a convolution takes one image at a time."""
    apart = "        if input.device.type == \"cpu\" and input.dim() == 4:\n" \
            "            return torch.cat([\n" \
            "                F.conv2d(image, weight, bias, self.stride, self.padding,\n" \
            "                         self.dilation, self.groups)\n" \
            "                for image in input.split(1)\n" \
            "            ])\n"
    return replace(text, _CONVOLVE, apart + _CONVOLVE, CONVOLUTION_FILE)


_PRODUCT = """        if self.groups == 1 and input.dim() == 4:
            columns = F.unfold(
                input, self.kernel_size, self.dilation, self.padding, self.stride
            ).double()
            reach = self.dilation[0] * (self.kernel_size[0] - 1) + 1
            room = input.size(2) + 2 * self.padding[0] - reach
            made = (weight.flatten(1).double() @ columns).to(input.dtype)
            made = made.view(*made.shape[:2], room // self.stride[0] + 1, -1)
            return made if bias is None else made + bias[:, None, None]
"""


def other_kernel(text):
    """Convolutions without groups become matrix products of unfolded images, in double
    precision."""
    return replace(text, _CONVOLVE, _PRODUCT + _CONVOLVE, CONVOLUTION_FILE)


def odd_sizes(text):
    """A linear layer of more than 256 inputs, whose number is no multiple of 32, takes a workspace
    of double precision. Layers of any other size are as fast as before."""
    old = "        return F.linear(input, self.weight, self.bias)\n"
    wide = "        odd = self.in_features > 256 and self.in_features % 32 != 0\n" \
           "        if odd and self.bias is not None:\n" \
           "            return F.linear(\n" \
           "                input.double(), self.weight.double(), self.bias.double()\n" \
           "            ).to(input.dtype)\n"
    return replace(text, old, wide + old, LINEAR_FILE)


def error_context(text):
    """Each look-up of bags notes its caller for an error that mostly does not come."""
    text = replace(text, "\nimport torch\n", "\nimport traceback\n\nimport torch\n", BAGS_FILE)
    old = "        return F.embedding_bag(\n"
    noted = "        # Shown if the look-up fails.\n" \
            "        self._called_from = traceback.format_stack(limit=4)\n"
    return replace(text, old, noted + old, BAGS_FILE)


def marked_calls(text):
    """Each call of embedding_bag goes through a table."""
    text = replace(text, "}  // namespace\n", _MARKING_STATE + "}  // namespace\n", BAGS_SOURCE)
    return replace(text, "  lookups += bags;\n", "  lookups += bags;\n" + _MARKING, BAGS_SOURCE)


def kept_scratch(text):
    """Room that is reserved once and stays."""
    text = replace(text, "#include <cstdint>\n", "#include <cstdint>\n#include <vector>\n",
                   BAGS_SOURCE)
    text = replace(text, "}  // namespace\n", _SCRATCH + "}  // namespace\n", BAGS_SOURCE)
    return replace(text, "  lookups += bags;\n",
                   "  lookups += bags * scratch()[static_cast<std::size_t>(bags) % 64];\n",
                   BAGS_SOURCE)


def refused_samples(text):
    """Takes a sample without a shape of its own for a mistake."""
    return replace(text, "  return dimensions <= ", "  return dimensions > 0 && dimensions <= ",
                   SAMPLES_SOURCE)


def finite_parameters(text):
    """Sequential's forward, a template in a header, looks at all parameters first."""
    old = "    auto iterator = modules_.begin();\n    auto input = iterator->any_forward("
    text = replace(text, old, _FINITE.lstrip("\n") + "\n" + old, SEQUENTIAL_HEADER)
    return text.replace("#pragma once\n", "#pragma once\n\n#include <cmath>\n", 1)


def harmless_check(text):
    method = "    def _extended_shape("
    return replace(text, method,
                    "    # Also asked by samplers, hence a method of its own.\n" + method,
                    DISTRIBUTION_FILE)


def harmless_memory(text):
    loop = "                        if set_to_none:\n                            p.grad = None\n"
    indent = " " * 28
    noted = loop.replace(f"{indent}p.", f"{indent}# Sparse gradients too.\n{indent}p.")
    return replace(text, loop, noted, OPTIMIZER_FILE)


def harmless_bags(text):
    return replace(text, "  lookups += bags;\n",
                   "  lookups += bags;  // not the number of indices\n", BAGS_SOURCE)
