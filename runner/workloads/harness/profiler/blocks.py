"""What memory was made of when an iteration's was at its peak. Pure."""

from dataclasses import dataclass

from .tree import MARK

GRADIENT, SAVED = MARK + "gradient:", MARK + "saved:"  # marks with a storage's address


@dataclass
class Block:
    """A piece of memory that an iteration took; `end` infinite: it kept it."""
    address: int
    size: int
    start: float
    end: float = float("inf")


def blocks_of(events):
    """Blocks from (time, address, bytes; negative when given back), in any order. What was not taken among
    these events and is given back is left out."""
    blocks, open_blocks = [], {}
    for time, address, size in sorted(events, key=lambda event: event[0]):
        if size > 0:
            open_blocks[address] = Block(address, size, time)
            blocks.append(open_blocks[address])
        elif address in open_blocks:
            open_blocks.pop(address).end = time
    return blocks


def peak_of(blocks):
    """(bytes, time) of the greatest sum of blocks alive together."""
    changes = [(block.start, block.size) for block in blocks]
    changes += [(block.end, -block.size) for block in blocks if block.end != float("inf")]
    now, best, at = 0, 0, 0.0
    for time, size in sorted(changes):
        now += size
        if now > best:
            best, at = now, time
    return best, at


def split(kept, blocks, marks):
    """Bytes by what they are at the peak; `marks` are (kind, time, address), `kept` what lay there before.
    Workspace is what is left: temporaries, outputs, and what kernels take for themselves. `gradients_made`
    are all of the iteration, at the peak or not."""
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
            part = {GRADIENT: "gradients", SAVED: "activations"}.get(kinds.get(id(block)), "workspace")
            parts[part] += block.size
    parts["gradients_made"] = sum(block.size for block in blocks if kinds.get(id(block)) == GRADIENT)
    parts["peak"] = sum(kept.values()) + peak
    return parts
