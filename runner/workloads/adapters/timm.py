"""Image models of timm with random weights: `timm/<model>/<train|eval>/...`."""

from adapters import images


def make(case):
    images.make_torchvision_importable()
    import timm
    name, classes = case.name.split("/")[1], images.CLASSES
    try:
        model = timm.create_model(name, pretrained=False, num_classes=classes, img_size=images.SIZE)
    except TypeError:  # convolutional networks take any size and have no such argument
        model = timm.create_model(name, pretrained=False, num_classes=classes)
    return images.step(case, model)
