"""Speaker encoder with the generalized end-to-end loss (Wan et al., 2018; TorchBench's
tts_angular): speech. Stacked recurrent layers with projections over spectrogram frames, similarity
of unit vectors."""

import torch
from torch import nn
from torch.nn import functional


class Recurrence(nn.Module):
    def __init__(self, inputs, hidden, projection):
        super().__init__()
        self.lstm = nn.LSTM(inputs, hidden, batch_first=True)
        self.linear = nn.Linear(hidden, projection, bias=False)

    def forward(self, x):
        return self.linear(self.lstm(x)[0])


class SpeakerEncoder(nn.Module):
    def __init__(self, case):
        super().__init__()
        widths = [case.bands] + [case.projection] * case.layers
        self.layers = nn.Sequential(*(Recurrence(inputs, case.hidden, outputs)
                                      for inputs, outputs in zip(widths, widths[1:])))
        self.scale = nn.Parameter(torch.tensor(10.0))
        self.offset = nn.Parameter(torch.tensor(-5.0))

    def forward(self, frames):
        """(utterances, frames, bands) to a unit vector for each utterance."""
        return functional.normalize(self.layers(frames)[:, -1], dim=1)

    def likeness(self, frames):
        """Cosines between all pairs of utterances."""
        voices = self(frames)
        return voices @ voices.t()

    def loss(self, frames, speakers):
        """Small if each utterance is nearest to its own speaker's mean. Utterances are sorted by
        speaker."""
        voices = self(frames).view(speakers, -1, self.layers[-1].linear.out_features)
        centroids = functional.normalize(voices.mean(1), dim=1)
        similarity = self.scale * (voices.flatten(0, 1) @ centroids.t()) + self.offset
        own = torch.arange(speakers, device=frames.device).repeat_interleave(voices.size(1))
        return functional.cross_entropy(similarity, own)


def make(case):
    model = case.ready(SpeakerEncoder(case))
    frames = case.uniform("frames", case.batch, case.frames, case.bands)
    if case.task == "eval":
        return case.evaluation(model.likeness, frames)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    return case.training(model, optimizer, lambda: model.loss(frames, case.speakers))
