"""What a precision needs of the device, and the networks of int8."""

import pathlib
import warnings

import torch

from harness.failure import Unavailable, one_line

CPU_INFO = pathlib.Path("/proc/cpuinfo")
HALF_FLAGS = {"avx512_fp16", "fphp", "asimdhp"}  # of CPUs that compute in fp16
AMPERE = 8  # the compute capability from which on there is TF32


def require(definition):
    """Throws Unavailable if the device lacks the precision or the workload cannot have it. Switches
    TF32 on for the workloads that ask for it."""
    precision, device = definition.precision, definition.device
    if precision == "fp16" and device == "cpu" and not _has_half():
        raise Unavailable("this CPU has no instructions for fp16")
    if precision == "tf32":
        if device != "cuda" or torch.version.hip or torch.cuda.get_device_capability()[0] < AMPERE:
            raise Unavailable("TF32 is of NVIDIA's GPUs from Ampere on")
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    if precision == "int8" and (device, definition.task, definition.backend) != ("cpu", "eval",
                                                                                "eager"):
        raise Unavailable("int8 is for inference on a CPU, in eager mode")


def _has_half():
    lines = CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines()
    return any(line.partition(":")[0].strip() in ("flags", "Features")
               and HALF_FLAGS & set(line.partition(":")[2].split()) for line in lines)


def quantised(module, inputs):
    """The module with 8-bit weights and activations, by PyTorch's static quantisation after
    training. The ranges of activations are those of the inputs. It has no parameters any more.
    Throws Unavailable if PyTorch cannot trace the module or has no such quantisation."""
    if not isinstance(module, torch.nn.Module):
        raise Unavailable("its forward pass is no module, which PyTorch could quantise")
    try:
        from torch.ao.quantization import get_default_qconfig_mapping
        from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx
    except ImportError as error:
        raise Unavailable(f"this PyTorch does not quantise: {one_line(error)}") from error
    engine = "x86" if "x86" in torch.backends.quantized.supported_engines else "qnnpack"
    torch.backends.quantized.engine = engine
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # torch.ao's own, that it is to be replaced one day
        try:
            observed = prepare_fx(module, get_default_qconfig_mapping(engine), inputs)
        except torch.fx.proxy.TraceError as error:
            raise Unavailable(f"PyTorch cannot trace it: {one_line(error)}") from error
        observed(*inputs)
        return convert_fx(observed)
