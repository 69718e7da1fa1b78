"""Why a run has no result: the known causes, and any exception in one line."""

import re


class Unavailable(Exception):
    """The workload cannot run here, for want of a device or a module. The text says what is
    missing."""


class WrongResult(Exception):
    pass


class Faulty(Exception):
    """The workload's own file or its entry in workloads.json is wrong. The text says which, and
    what it needs."""


# PyTorch's advice behind the line that says what happened, and where its compilers begin to quote.
ADVICE = re.compile(
    r"^\s*(?:(?:CUDA|HIP|XPU) kernel errors might be|For debugging consider passing"
    r"|Compile with `TORCH_USE_|Search for `\w+' in |Device-side assertion|Exception raised from "
    r"|frame #0: |C\+\+ stacktrace|Set TORCHDYNAMO_VERBOSE|Set TORCH_LOGS"
    r"|You can suppress this exception|from user code:|Explanation: |Hint: "
    r"|Developer debug context: |For more details about this graph break|target: \S+$"
    r"|While executing %|Original traceback:|The above exception was )", re.MULTILINE)
COMPILER = re.compile(r"^C\+\+ compile error\b.*?^(?:[^\n]*?: )?((?:fatal )?error: [^\n]+)$",
                      re.MULTILINE | re.DOTALL)
# Words of allocators and libraries of devices whose error has no type of its own.
OUT_OF_MEMORY = re.compile(
    r"can't allocate memory|\b(?:CUDA|HIP|XPU)\b[^\n]*\bout of memory"
    r"|\b(?:cuda|hip)ErrorMemoryAllocation"
    r"|\b(?:CU|HIP)(?:BLAS|SPARSE|SOLVER|DNN|FFT)_\w*ALLOC_FAILED"
    r"|OUT_OF_(?:DEVICE|HOST)_MEMORY")


def is_out_of_memory(error):
    """torch.OutOfMemoryError on a device; other calls there, and the CPU's allocator, throw a plain
    RuntimeError. A compiler wraps either in an error of its own."""
    return (isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
            or bool(OUT_OF_MEMORY.search(str(error))))


def telling_line(error):
    """The line of an exception's text that says what happened; the text may be empty. As a rule it
    is the last, but PyTorch puts advice behind it."""
    text = str(error).strip()
    if compiler := COMPILER.search(text):
        return compiler[1]
    advice = ADVICE.search(text)
    before = text[:advice.start()].strip() if advice else text
    return (before or text).splitlines()[-1].strip() if text else ""


def one_line(error):
    """An exception's type, and the telling line of its text if there is one."""
    text = telling_line(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
