"""Libraries that a library of models asks for in words of its own."""

import importlib.util
import re


def library(error):
    """The module that transformers did not find, which it says in words of its own; else None.
    PyTorch is never missing: where it is not found, the build is broken."""
    said = re.search(r"requires the (\w+) library but it was not found in your environment",
                     str(error))
    module = said and said[1].lower()
    if module in (None, "pytorch") or importlib.util.find_spec(module):
        return None
    return module
