"""What a profile asks of PyTorch's multiprocessing."""
