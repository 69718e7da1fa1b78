"""Image models of timm with random weights: `timm/<model>/<train|eval>/...`.

Models of two sizes are those of PyTorch's compiler dashboard. `paper` has the images that timm
gives the model, `small` has smaller ones; the network is the same."""

from adapters import images

EDGES = {"": images.SIZE, "small": 112}  # pixels; 112 is a multiple of 14 and of 16


def build(name, size):
    """The model and its images' edge in pixels."""
    images.make_torchvision_importable()
    import timm
    values = {"pretrained": False, "num_classes": images.CLASSES}
    if size == "paper":
        model = timm.create_model(name, **values)
        return model, model.default_cfg["input_size"][-1]
    edge = EDGES[size]
    try:
        return timm.create_model(name, img_size=edge, **values), edge
    except TypeError:  # convolutional networks take any size and have no such argument
        return timm.create_model(name, **values), edge


def make(case):
    model, edge = build(case.definition.model, case.definition.size)
    return images.step(case, model, edge)
