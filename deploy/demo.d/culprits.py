"""The kinds of culprits that the demo plants. Seven are after what TorchBench's CI found in
PyTorch, by its paper's table of finds; `after` has the pull request."""

import dataclasses
import typing

import plants
from plants import (BAGS_FILE, BAGS_SOURCE, CONVOLUTION_FILE, DYNAMO_FILE, LINEAR_FILE,
                    SAMPLES_SOURCE, SEQUENTIAL_HEADER)
from native import DISTRIBUTION_FILE, EMBEDDING_FILE, OPTIMIZER_FILE, is_native


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of culprit. `workload` is the one that shows it: no two culprits of a day share it,
    since one that fails would hide the other."""
    name: str
    workload: str
    metric: str
    path: str
    edit: typing.Callable[[str], str]
    subject: str
    body: str
    after: int | None = None  # number of PyTorch's own pull request

    @property
    def native(self):
        return is_native(self.path)


KINDS = [
    Kind("Python latency", "python/soft_actor_critic", "latency", DISTRIBUTION_FILE,
         plants.redundant_check,
         "[distributions] Raise where a parameter is read, not only where it is set",
         "A parameter that was changed in place went unnoticed until much later.", 61056),
    Kind("Python memory", "python/resnet18", "peak_cpu_memory", OPTIMIZER_FILE, plants.kept_memory,
         "[optim] Let hooks see the gradients of the first steps",
         "A divergence at the start could not be looked into once zero_grad had run.", 85447),
    Kind("leak", "python/resnet18", "peak_cpu_memory", OPTIMIZER_FILE, plants.leaked_gradient,
         "[optim] Remember the largest gradient of every other step",
         "For the report that is written when a training diverges."),
    Kind("failure to run", "python/dlrm", "failures", EMBEDDING_FILE, plants.refused_bags,
         "[nn] Check the offsets of embedding_bag early",
         "Wrong offsets were reported by the kernel, without the caller's line."),
    Kind("failure to import", "python/resnet18", "failures", DYNAMO_FILE, plants.missing_name,
         "[dynamo] Share the plural helper with error messages", "One helper less."),
    Kind("native latency", "python/dlrm", "latency", BAGS_SOURCE, plants.marked_calls,
         "[embedding] Leave a mark of each call for crash reports",
         "Reports could not tell in which order bags had been looked up.", 71904),
    Kind("native memory", "python/dlrm", "peak_cpu_memory", BAGS_SOURCE, plants.kept_scratch,
         "[embedding] Reserve room for the largest batch of bags",
         "Growing it step by step fragmented the heap of long jobs."),
    Kind("native failure", "python/soft_actor_critic", "failures", SAMPLES_SOURCE,
         plants.refused_samples, "[distributions] Refuse samples of no dimensions",
         "They were shapes passed by mistake."),
    Kind("header-only native latency", "native/soft_actor_critic", "latency", SEQUENTIAL_HEADER,
         plants.finite_parameters, "[cpp] Check that a Sequential's parameters are finite",
         "A parameter that is not finite went unnoticed until the loss was."),
    Kind("one kind of device", "python/resnet18", "latency", CONVOLUTION_FILE,
         plants.convolved_apart, "[nn] Convolve one image at a time on CPUs",
         "So that an image's data stay in the cache.", 65594),
    Kind("some sizes", "python/dlrm", "latency", LINEAR_FILE, plants.odd_sizes,
         "[nn] Use a wider workspace for linear layers of odd sizes",
         "Sums of many products lose digits where rows are not aligned.", 72148),
    Kind("another kernel", "python/resnet18", "latency", CONVOLUTION_FILE, plants.other_kernel,
         "[nn] Take the reference kernel for convolutions",
         "Its results do not depend on the instruction set.", 65839),
    Kind("error handling", "python/dlrm", "latency", BAGS_FILE, plants.error_context,
         "[nn] Say in errors of EmbeddingBag where it was called",
         "The kernel's message has no line of the caller.", 87855),
]
# Files of culprits, which no other commit of a day changes.
FILES = {kind.path for kind in KINDS} - {BAGS_SOURCE, SAMPLES_SOURCE}


def draw(random):
    """The kinds of a day: two or three, one of them native, each seen by another workload."""
    drawn = [random.choice([kind for kind in KINDS if kind.native])]
    count = random.choice((2, 3))
    for kind in random.sample(KINDS, len(KINDS)):
        if len(drawn) < count and not kind.native and \
                kind.workload not in {other.workload for other in drawn}:
            drawn.append(kind)
    return drawn


ASKED = "Asked twice in review."
# On a quiet day these take their places: edits of the same files that change nothing measurable.
# Path, edit, subject, body.
HARMLESS = [
    (DISTRIBUTION_FILE, plants.harmless_check,
     "[distributions] Say why _extended_shape is a method", ASKED),
    (OPTIMIZER_FILE, plants.harmless_memory,
     "[optim] Note that zero_grad treats sparse gradients alike", ASKED),
    (BAGS_SOURCE, plants.harmless_bags, "[embedding] Say what is counted", ASKED),
]
