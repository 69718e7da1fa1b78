"""What the adapters share: an image classifier's step, and importing torchvision on any build."""

import glob
import importlib.util
import os

import torch

from blocks.vision import classification

CLASSES = 1000
SIZE = 64  # pixels
_declared = []  # keeps the library alive, since its declarations end with it


def step(case, classifier, edge=SIZE):
    for module in classifier.modules():
        if type(module).__name__ in ("Dropout", "StochasticDepth"):
            module.p = 0.0  # compiled code would draw other masks
    case.image, case.classes = edge, CLASSES  # the table has no sizes of other people's models
    return classification(case, classifier)


def make_torchvision_importable():
    """Declares torchvision's compiled operators if its library cannot be loaded. Call it before
    importing torchvision. That library is bound to one build of PyTorch, so it does not load in a
    nightly. The import would then fail, since it registers how these operators behave on meta
    tensors. Classifiers do not use them."""
    spec = importlib.util.find_spec("torchvision")
    if spec is None or _declared:
        return  # the import says that it is missing
    folder = os.path.dirname(spec.origin)
    try:
        for library in glob.glob(os.path.join(folder, "_C*.so")):
            torch.ops.load_library(library)
            return
    except OSError:
        pass
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _declared.append(library)
