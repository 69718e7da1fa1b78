"""Models that are not Nightjar's own: transformers, timm, torchvision and TorchBench, and the
native models inside Python. The harness imports the one that a workload's suite names."""
