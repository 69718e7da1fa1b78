"""What PyTorch's CI has built of a day: which native groups have a wheel, and the archives as it
uploads them. Published all at once, with the day's last nightly."""

import hashlib
import random

import native
import wheel

REPOSITORY = "pytorch/pytorch"
SHARE = (0.6, 0.8)  # of the native groups between the nightlies


def environment(tags):
    """CI's name of a build environment for this Python: cp311 is py3.11."""
    digits = tags.split("-")[0].removeprefix("cp")
    return f"linux-jammy-py{digits[0]}.{digits[1:]}-gcc11"


def groups_of(trees):
    """The native group of each tree."""
    return [native.group(tree) for tree in trees]


def needed(day, groups):
    """The groups that must have a wheel, so that each culprit can be named alone: its own and that
    of the commit before. Where both are the group of one nightly, its wheel does. Where only one
    is, a wheel of CI beside the nightly's tells what the two origins differ by."""
    ends = (groups[0], groups[-1])
    must = set()
    for position, commit in enumerate(day, 1):
        sides = {groups[position - 1], groups[position]}
        if commit.kind and not (len(sides) == 1 and sides <= set(ends)):
            must |= sides
    return must


def draw(seed, day, groups):
    """The positions of the commits whose wheels there are, one for each chosen group. Position n is
    after n commits. Groups of the two nightlies have one only if a culprit needs it."""
    chance = random.Random(f"wheels {seed}")
    members = {}
    for position, group in enumerate(groups):
        members.setdefault(group, []).append(position)
    must = needed(day, groups)
    for end in {groups[0], groups[-1]} - must:
        members.pop(end)
    count = round(chance.uniform(*SHARE) * len(members))
    others = [group for group in members if group not in must]
    chosen = [*sorted(must), *chance.sample(others, max(0, count - len(must)))]
    return sorted(chance.choice(positions) for group, positions in members.items()
                  if group in set(chosen))


def archive(base, release, commit, changed):
    """The artifacts.zip of a commit, with its wheel stored inside. It is not written anywhere."""
    name, made = wheel.make(base, f"{release}a0+git{commit[:7]}", commit, changed)
    return wheel.stored_in(made, f"dist/{name}", {".ninja_log": "# ninja log v5\n"})


def publish(place, content, archives):
    """Tells the loopback place of the day's runs and of its archives, {commit: Spliced}."""
    for number, commit in enumerate(content["shas"]):
        run = 17_000_000_000 + 1000 * number
        place.add_run({"id": run, "head_sha": commit})
        if commit in archives:
            key = f"{REPOSITORY}/{run}/{content['environment']}/artifacts.zip"
            etag = hashlib.md5(key.encode()).hexdigest() + "-3"
            place.add_object(key, archives[commit], etag)
