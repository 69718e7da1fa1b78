"""Image models of torchvision with random weights: `torchvision/<model>/<train|eval>/...`."""

from adapters import images


def make(case):
    images.make_torchvision_importable()
    from torchvision import models
    return images.step(
        case, models.get_model(case.name.split("/")[1], weights=None, num_classes=images.CLASSES))
