"""Compares what a compiled workload computes with eager, so that both have the same chances.

Compiled code draws its random numbers in another way than eager, so a step that draws is compared
apart: as in PyTorch's dynamo runners, dropout is off and compiled code draws by eager's operators
(`fallback_random`). What draws nothing is compared as it was measured. """

import contextlib
import dataclasses

from harness.failure import WrongResult

NUDGES = 4  # runs of eager that show how far rounding errors go


@dataclasses.dataclass
class Side:
    step: object
    seconds: float  # of the first iterations together
    results: dict  # of the very first one
    draws: bool  # whether it drew random numbers


def word_of(torch, build, found, eager, compiled):
    """dynamo's word on a pair of Sides, or "no_evidence". Throws WrongResult with the word
    fail_accuracy if the compiled step is wrong."""
    from harness.accuracy import difference
    if found.unchecked:
        return "pass_due_to_skip"
    if eager.draws or compiled.draws:
        eager, compiled = (quiet(torch, build, one)
                           for one in (dataclasses.replace(found, backend="eager"), found))
    if not eager.results and not compiled.results:
        return "no_evidence"

    def differs(one, *others):
        return difference(eager.results, one.results, found.precision, found.device, *others)

    def again(precision, prepare=lambda modules: None):
        """Eager's results once more; None if it cannot run so, as where memory is too small."""
        eagerly = dataclasses.replace(found, backend="eager", precision=precision)
        try:
            return quiet(torch, build, eagerly, prepare)
        except Exception:  # dynamo's runners go on without, too
            return None

    def double():
        """The same results in double precision; None if that would draw other numbers."""
        exact = None if eager.draws else again("fp64")
        return exact and exact.results

    def nudged():
        """Eager's results with each parameter changed by its last bit, up or down."""
        sides = [again(found.precision, lambda modules, seed=seed: nudge(torch, modules, seed))
                 for seed in range(NUDGES)]
        return [side.results for side in sides if side]
    reason = differs(compiled, double, nudged)
    if not reason:
        return "pass"
    repeated = again(found.precision)
    if repeated and differs(repeated):
        return "eager_two_runs_differ"
    error = WrongResult(f"compiled and eager differ: {reason}")
    error.accuracy = "fail_accuracy"
    raise error


def quiet(torch, build, found, prepare=lambda modules: None):
    """The first iteration of a case of its own, without dropout, once `prepare` has had its
    modules."""
    from harness.living import living
    earlier = living(torch.nn.Module)
    known = {id(module) for module in earlier}
    # Or dynamo takes a probability that became 0 for a number that changes from call to call.
    torch._dynamo.reset()
    with drawing_as_eager(found):
        case, step = build(found)
        modules = [module for module in living(torch.nn.Module) if id(module) not in known]
        without_dropout(torch, modules)
        prepare(modules)
        return first(torch, case, step, found.device)


@contextlib.contextmanager
def drawing_as_eager(found):
    if found.backend == "eager":
        yield
        return
    from torch._inductor import config
    with config.patch(fallback_random=True):
        yield


def without_dropout(torch, modules):
    """Sets every probability of dropping to 0: `p` of dropout and of stochastic depth, and numbers
    whose names say so, as the dynamo runner for transformers does in their configurations."""
    for module in modules:
        drops = "drop" in type(module).__name__.lower() or "Stochastic" in type(module).__name__
        for name, value in list(vars(module).items()):
            if isinstance(value, float) and ("drop" in name or drops and name == "p"):
                setattr(module, name, 0.0)


def nudge(torch, modules, seed):
    """Changes each floating-point parameter by its last bit, up or down as the seed says. Every
    other seed also lays images out by channels, as inductor does."""
    coins = torch.Generator().manual_seed(seed)  # the step's own generator stays as it is
    for module in modules if seed % 2 else ():
        module.to(memory_format=torch.channels_last)
    parameters = {id(one): one for module in modules for one in module.parameters(recurse=False)}
    with torch.no_grad():
        for parameter in parameters.values():
            if parameter.is_floating_point():
                signs = 2 * torch.randint(2, parameter.shape, generator=coins) - 1
                bit = torch.finfo(parameter.dtype).eps
                parameter.mul_(1 + bit * signs.to(parameter.device, parameter.dtype))


def first(torch, case, step, device, run=None):
    """The Side of a step's first iteration. `run(step)` gives (seconds, output)."""
    from harness.accuracy import evidence
    before = states(torch, device)
    seconds, output = run(step) if run else (0.0, step())
    after = states(torch, device)
    draws = any(not torch.equal(*pair) for pair in zip(before, after))
    return Side(step, seconds, evidence(case, output), draws)


def states(torch, device):
    """The states of the generators that a step may draw from: the host's, and the device's."""
    return [torch.get_rng_state()] + ([torch.cuda.get_rng_state()] if device == "cuda" else [])
