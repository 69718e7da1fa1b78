import contextlib


@contextlib.contextmanager
def saved_tensors_hooks(_pack, _unpack):
    """Nothing is saved: no operator here has a backward pass."""
    yield
