"""Files that are made of parts of other files and of bytes. A day's wheels differ from the
installed PyTorch's in a few members, so their archives are served without being written."""

import bisect
import os
import zlib

BLOCK = 1 << 20


class Spliced:
    """Parts are bytes, or (path, offset, length). Has what a path has that a server needs."""

    def __init__(self, parts):
        self.parts = [part for part in parts if (part if isinstance(part, bytes) else part[2])]
        self.starts, self.size = [], 0
        for part in self.parts:
            self.starts.append(self.size)
            self.size += len(part) if isinstance(part, bytes) else part[2]

    def blocks(self, first=0, count=None):
        """The bytes from `first` on, `count` of them, in blocks."""
        left = self.size - first if count is None else count
        at = bisect.bisect_right(self.starts, first) - 1
        skip = first - self.starts[at] if self.parts else 0
        for part in self.parts[max(at, 0):]:
            for block in _blocks(part, skip, left):
                left -= len(block)
                yield block
            skip = 0
            if left <= 0:
                return

    def crc32(self):
        crc = 0
        for block in self.blocks():
            crc = zlib.crc32(block, crc)
        return crc

    def write(self, path):
        with open(path, "wb") as file:
            for block in self.blocks():
                file.write(block)


def whole_file(path):
    return Spliced([(path, 0, os.path.getsize(path))])


def _blocks(part, skip, most):
    """At most `most` bytes of a part, from `skip` on."""
    if isinstance(part, bytes):
        if part[skip:skip + most]:
            yield part[skip:skip + most]
        return
    path, offset, length = part
    left = min(length - skip, most)
    with open(path, "rb") as file:
        file.seek(offset + skip)
        while left > 0 and (block := file.read(min(BLOCK, left))):
            left -= len(block)
            yield block


class Tail:
    """What zipfile writes behind a file's first `before` bytes; they are not here."""

    def __init__(self, before):
        self.before, self.data, self.at = before, bytearray(), 0

    def tell(self):
        return self.before + self.at

    def seek(self, offset, whence=os.SEEK_SET):
        base = {os.SEEK_SET: -self.before, os.SEEK_CUR: self.at, os.SEEK_END: len(self.data)}
        self.at = base[whence] + offset
        return self.tell()

    def seekable(self):
        return True

    def write(self, block):
        self.data[self.at:self.at + len(block)] = block
        self.at += len(block)
        return len(block)

    def flush(self):
        pass
