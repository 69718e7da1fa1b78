"""What networks for images share: convolution with its norm, and the step of a classifier."""

import torch
from torch import nn
from torch.nn import functional


def convolution(inputs, outputs, kernel, stride=1, groups=1):
    """A convolution that keeps the size, except for the stride. It has no bias, since a norm
    follows."""
    return nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)


def convolution_norm(inputs, outputs, kernel, stride=1, groups=1, activation=nn.ReLU):
    """Convolution, batch norm and activation: a list of layers."""
    return [
        convolution(inputs, outputs, kernel, stride, groups),
        nn.BatchNorm2d(outputs),
        activation(inplace=True)]


def pooled(x):
    """(batch, channels, height, width) to the mean of each channel."""
    return torch.flatten(functional.adaptive_avg_pool2d(x, 1), 1)


def classification(case, model, optimizer=None, gain=1.0):
    """The step of an image classifier, from the sizes `image` and `classes`. `optimizer` makes one
    for the parameters; the default is that of the residual networks' authors. `gain` multiplies the
    parameters; without norms, √2 makes up for ReLU's loss."""
    case.ready(model)
    with torch.no_grad():
        for parameter in model.parameters() if gain != 1 else ():
            parameter.mul_(gain)
    images = case.uniform("images", case.batch, 3, case.image, case.image)
    if case.task == "eval":
        return case.evaluation(model, images)
    labels = case.integers("labels", case.batch, high=case.classes)
    return case.training(model, (optimizer or sgd)(model.parameters()),
                         lambda: functional.cross_entropy(model(images), labels))


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=1e-3, momentum=0.9, weight_decay=1e-4)
