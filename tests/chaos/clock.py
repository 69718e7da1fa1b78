"""A wall clock of one program that a test can set (clock.c)."""

import pathlib
import struct
import subprocess

SOURCE = pathlib.Path(__file__).with_name("clock.c")


def compile_library(folder):
    """Compiles the library into `folder`; returns its path."""
    library = folder / "clock.so"
    subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-Wno-nonnull-compare", "-shared",
                    "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
    return library


class Clock:
    """The file that says how far one program's clock is off, in seconds."""

    def __init__(self, path, library):
        self.path = path
        self.environment = {"LD_PRELOAD": str(library), "NIGHTJAR_CLOCK": str(path)}
        self.offset = 0
        path.write_bytes(bytes(8))

    def set(self, offset):
        """The program sees it at once. The file is written in place, since it is mapped."""
        self.offset = offset
        with open(self.path, "r+b") as file:
            file.write(struct.pack("q", offset))
