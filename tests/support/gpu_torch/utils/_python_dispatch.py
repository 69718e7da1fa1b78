class TorchDispatchMode:
    """Sees no call, so that the work of each operator is unknown."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass
