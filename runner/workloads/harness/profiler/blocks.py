"""Divides an iteration's memory at its peak by what it holds. Pure."""

from dataclasses import dataclass

from .tree import MARK

GRADIENT, SAVED = MARK + "gradient:", MARK + "saved:"  # marks with a storage's address


@dataclass
class Block:
    """A piece of memory that an iteration took. An infinite `end`: it was not given back."""
    address: int
    size: int
    start: float
    end: float = float("inf")


def blocks_of(events):
    """Blocks from events (time, address, bytes), in any order; bytes are negative when given back.
    Ignores memory that is given back but was not taken among these events."""
    blocks, open_blocks = [], {}
    for time, address, size in sorted(events, key=lambda event: event[0]):
        if size > 0:
            open_blocks[address] = Block(address, size, time)
            blocks.append(open_blocks[address])
        elif address in open_blocks:
            open_blocks.pop(address).end = time
    return blocks


def peak_of(blocks):
    """(bytes, time) of the largest sum of blocks alive at the same time."""
    changes = [(block.start, block.size) for block in blocks]
    changes += [(block.end, -block.size) for block in blocks if block.end != float("inf")]
    now, best, at = 0, 0, 0.0
    for time, size in sorted(changes):
        now += size
        if now > best:
            best, at = now, time
    return best, at


def split(kept, blocks, marks):
    """Bytes at the peak by part. `marks` are (kind, time, address), `kept` the bytes from before
    the iteration. Workspace is the rest: temporaries, outputs, and memory that kernels take.
    `gradients_made` are those of the whole iteration, at the peak or not."""
    peak, at = peak_of(blocks)
    kinds, by_address = {}, {}
    for block in blocks:
        by_address.setdefault(block.address, []).append(block)
    for kind, time, address in marks:
        held = [block for block in by_address.get(address, []) if block.start <= time < block.end]
        if held and kinds.get(id(held[-1])) != GRADIENT:
            kinds[id(held[-1])] = kind
    parts = dict(kept, gradients=0, activations=0, workspace=0)
    for block in blocks:
        if block.start <= at < block.end:
            part = {GRADIENT: "gradients", SAVED: "activations"}.get(kinds.get(id(block)),
                                                                     "workspace")
            parts[part] += block.size
    parts["gradients_made"] = sum(block.size
                                  for block in blocks
                                  if kinds.get(id(block)) == GRADIENT)
    parts["peak"] = sum(kept.values()) + peak
    return parts
