"""DCGAN (Radford et al., 2015): generation. Transposed convolutions, batch norm, two networks that
train against each other. `train` is one step of the discriminator, then one of the generator."""

import torch
from torch import nn
from torch.nn import functional

from harness.case import descend


def up(inputs, outputs, stride=2):
    """Doubles the size; with stride 1 it goes from 1 to 4."""
    return [nn.ConvTranspose2d(inputs, outputs, 4, stride, stride - 1, bias=False),
            nn.BatchNorm2d(outputs), nn.ReLU(True)]


def down(inputs, outputs):
    return [
        nn.Conv2d(inputs, outputs, 4, 2, 1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.LeakyReLU(0.2, True)]


class Dcgan(nn.Module):
    """Images of 3 x 32 x 32; the paper's `width` is 128 for 64 x 64."""

    def __init__(self, latent, width):
        super().__init__()
        self.generator = nn.Sequential(*up(latent, 4 * width, 1), *up(4 * width, 2 * width),
                                       *up(2 * width, width),
                                       nn.ConvTranspose2d(width, 3, 4, 2, 1, bias=False), nn.Tanh())
        self.discriminator = nn.Sequential(nn.Conv2d(3, width, 4, 2, 1, bias=False),
                                           nn.LeakyReLU(0.2, True), *down(width, 2 * width),
                                           *down(2 * width, 4 * width),
                                           nn.Conv2d(4 * width, 1, 4, bias=False), nn.Flatten(0))


def make(case):
    model = case.ready(Dcgan(case.latent, case.width))
    noise = case.uniform("noise", case.batch, case.latent, 1, 1)
    if case.task == "eval":
        return case.evaluation(model.generator, noise)
    return Duel(case, model, noise, case.uniform("images", case.batch, 3, 32, 32))


class Duel:
    def __init__(self, case, model, noise, images):
        self.noise, self.images = noise, images
        self.generator = case.network(model.generator)
        self.discriminator = case.network(model.discriminator)
        self.judge = torch.optim.Adam(model.discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
        self.forge = torch.optim.Adam(model.generator.parameters(), lr=2e-4, betas=(0.5, 0.999))

    def __call__(self):
        forged = self.generator(self.noise)
        judged = self.loss(self.images, 1.0) + self.loss(forged.detach(), 0.0)
        descend(self.judge, judged)
        believed = self.loss(forged, 1.0)
        descend(self.forge, believed)
        return torch.stack([judged.detach(), believed.detach()])

    def loss(self, images, wanted):
        verdict = self.discriminator(images)
        return functional.binary_cross_entropy_with_logits(verdict,
                                                           torch.full_like(verdict, wanted))
