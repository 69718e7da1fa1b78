"""Draws the commits of a day from a seed: what each changes, who wrote it, and when."""

import dataclasses
import datetime

import culprits
import edits
import native
import people

# The folders of Python edits and their weights: PyTorch's busy ones, including hot paths.
AREAS = [("torch/nn/", "nn", 5), ("torch/optim/", "optim", 3),
         ("torch/distributions/", "distributions", 3), ("torch/_inductor/", "inductor", 6),
         ("torch/_dynamo/", "dynamo", 6), ("torch/distributed/", "distributed", 6),
         ("torch/fx/", "fx", 3), ("torch/utils/", "utils", 3), ("torch/ao/", "ao", 2),
         ("torch/_functorch/", "aotautograd", 2), ("torch/autograd/", "autograd", 2),
         ("torch/testing/", "testing", 2), ("torch/onnx/", "onnx", 2)]
# Native commits come in runs, as on real days: after one of a kind the next is probably alike.
STAYS = 0.7
NATIVE_KINDS = [("source", 8), ("header", 1), ("revert", 1)]
KINDS = [("rename", 9), ("comment", 6), ("docstring", 5), ("annotation", 3), ("modernise", 4),
         ("docs", 6), ("test", 7), ("workflow", 2)]
TEXTS = {  # folder, and (subject, appended text): {} is the file's name there, a number here
    "docs": ("docs/source/", [
        ("[docs] Point to reproducibility in {}", "\n.. note:: See also :ref:`reproducibility`.\n"),
        ("[docs] Fix a link in {}", "\n.. _overview {0}: overview.html\n"),
        ("[docs] Show a short example in {}", "\nExample {0}::\n\n    >>> torch.ones(2)\n"),
        ("[docs] Say since when this is stable in {}", "\n.. versionadded:: 2.0\n")]),
    "test": ("test/", [
        ("[test] Cover one more shape in {}", "\n\nclass TestShape{0}(unittest.TestCase):\n    "
                                              "def test_one(self):\n"
         "        self.assertEqual((1, 2)[0], 1)\n"),
        ("[test] Check empty input in {}", "\n\nclass TestEmpty{0}(unittest.TestCase):\n    def "
                                           "test_empty(self):\n"
         "        self.assertFalse([])\n")]),
    "workflow": (".github/", [("[ci] Say in {} who retries", "# {0}: retried once by the bot\n"),
                              ("[ci] Name the owner of {}", "# {0}: owned by the release team\n")]),
}
BROKEN_FILE = "torch/_tensor_str.py"
REMOVED_FILE = "torch/contrib/_tensorboard_vis.py"
ADDED_FILE = "torch/utils/_plural.py"


@dataclasses.dataclass
class Commit:
    subject: str
    body: str
    changes: dict  # path to bytes; None: deleted
    author: str = ""
    at: int = 0    # seconds since 1970
    kind: culprits.Kind | None = None  # of a planted one

    @property
    def native(self):
        """Whether its build needs a wheel of its own native group."""
        return any(map(native.is_native, self.changes))


def support_files():
    """Files of a repository that no wheel has, so that a day can change documentation and tests."""
    files = {
        "README.md": "# PyTorch\n\nTensors and dynamic neural networks in Python.\n",
        "version.txt": "2.13.0a0\n", ".github/workflows/pull.yml": "name: pull\non: pull_request\n"}
    for page in ("autograd", "distributions", "distributed", "fx", "nn", "optim", "torch.compiler"):
        files[f"docs/source/{page}.rst"] = f"{page}\n{'=' * len(page)}\n\n.. automodule:: torch\n"
    for name in ("autograd", "dataloader", "distributions", "fx", "nn", "optim", "ops", "torch"):
        files[f"test/test_{name}.py"] = f'"""Tests of {name}."""\nimport unittest\n'
    return {path: text.encode() for path, text in files.items()}


class Day:
    """Draws one commit after the other. `files` is the tree after the last one."""

    def __init__(self, random, files):
        self.random = random
        self.files = dict(files)
        self.number = random.randrange(181000, 188000)
        self.commits = []
        self.is_native = random.random() < 0.5
        self.undo = None  # of the last native edit: (its commit, path, text before, text after)

    def add(self, subject, body, changes, kind=None):
        self.number += self.random.randrange(3, 90)
        name = self.random.choice(people.NAMES)
        reviewer = self.random.choice([other for other in people.NAMES if other != name])
        body = f"{body}\n\nPull Request resolved: #{self.number}\nApproved by: {reviewer}"
        self.commits.append(
            Commit(f"{subject} (#{self.number})", body, changes, name, kind=kind))
        for path, data in changes.items():
            if data is None:
                self.files.pop(path)
            else:
                self.files[path] = data

    def python_edit(self, kind):
        """Tries files until an edit of this kind applies to one. Returns whether it found one."""
        for _ in range(200):
            folder, tag, _ = self.random.choices(AREAS, [weight for *_, weight in AREAS])[0]
            paths = [p for p in sorted(self.files) if p.startswith(folder) and p.endswith(".py")
                     and p not in culprits.FILES | {BROKEN_FILE, native.MODULE}]
            path = self.random.choice(paths)
            edited = edits.apply(kind, self.random, self.files[path].decode())
            if edited and edited[0].encode() != self.files[path]:
                text, what = edited
                self.add(f"[{tag}] {what}", f"In {path}; no change of behaviour.",
                         {path: text.encode()})
                return True
        return False

    def text_edit(self, kind):
        """Adds a line to a file that no wheel has."""
        folder, choices = TEXTS[kind]
        path = self.random.choice([p for p in sorted(self.files) if p.startswith(folder)])
        subject, line = self.random.choice(choices)
        data = self.files[path] + line.format(self.number).encode()
        self.add(subject.format(path.rsplit("/", 1)[1]), "Came up in review.", {path: data})

    def native_edit(self):
        kind = self.random.choices([k for k, _ in NATIVE_KINDS],
                                   [weight for _, weight in NATIVE_KINDS])[0]
        if kind == "revert" and self.undo and self.files[self.undo[1]] == self.undo[3]:
            reverted, path, before, _ = self.undo
            self.add(f'Revert "{reverted.subject}"', "Broke a build on trunk.", {path: before})
            self.undo = None
            return
        edit = native.edit_header if kind == "header" else native.edit
        path, text, what = edit(self.random, self.files)
        before, name = self.files[path], path.rsplit("/", 1)[1]
        self.add(f"[{'cpp' if kind == 'header' else 'native'}] {what} {name}",
                 f"In {path}; no change of behaviour.", {path: text.encode()})
        self.undo = self.commits[-1], path, before, text.encode()

    def ordinary(self):
        if self.random.random() >= STAYS:
            self.is_native = not self.is_native
        if self.is_native:
            return self.native_edit()
        kind = self.random.choices([k for k, _ in KINDS], [weight for _, weight in KINDS])[0]
        if kind not in edits.KINDS or not self.python_edit(kind):
            self.text_edit(kind if kind not in edits.KINDS else "docs")

    def planted(self, kind):
        text = kind.edit(self.files[kind.path].decode())
        self.add(kind.subject, kind.body, {kind.path: text.encode()}, kind)

    def harmless(self, path, edit, subject, body):
        self.add(subject, body, {path: edit(self.files[path].decode()).encode()})

    def break_and_revert(self):
        """Adds a commit that breaks `import torch`, and its revert."""
        good = self.files[BROKEN_FILE]
        bad = good.replace(b"import torch\n",
                           b"import torch\nfrom torch._utils import _plural_of\n", 1)
        subject = "[utils] Share the plural helper with tensor printing"
        self.add(subject, "One helper less.", {BROKEN_FILE: bad})
        self.add(f'Revert "{self.commits[-1].subject}"', "Broke the import on trunk.",
                 {BROKEN_FILE: good})

    def helper(self):
        text = ('"""Words with their number."""\n\n\ndef plural(count: int, word: str) -> str:\n'
                '    return f"{count} {word}" if count == 1 else f"{count} {word}s"\n')
        self.add("[utils] Add a helper for plurals", "To be used by error messages.",
                 {ADDED_FILE: text.encode()})

    def removal(self):
        self.add("Remove the old tensorboard script", "Nobody imports it.", {REMOVED_FILE: None})


def draw_day(random, files, kinds, start, end):
    """The commits of a day, oldest first, each with its author and its time between start and
    end. Plants a culprit of each of `kinds`."""
    day = Day(random, files)
    steps = [day.ordinary] * random.randrange(40, 49)
    specials = [lambda kind=kind: day.planted(kind) for kind in kinds]
    if not kinds:
        specials = [lambda each=each: day.harmless(*each) for each in culprits.HARMLESS]
    specials += [day.break_and_revert, day.helper] + [day.removal] * (REMOVED_FILE in files)
    for special in specials:
        steps.insert(random.randrange(len(steps) + 1), special)
    for step in steps:
        step()
    moments = sorted(random.sample(range(start + 60, end - 600), len(day.commits)))
    for commit, at in zip(day.commits, moments):
        commit.at = at
    return day.commits


def trees(files, commits):
    """The files after each commit, those before the first in front."""
    found = [files]
    for commit in commits:
        tree = {**found[-1], **commit.changes}
        found.append({path: data for path, data in tree.items() if data is not None})
    return found


def cut(date):
    """The time at which the nightly of `date` is cut: 07:30 UTC."""
    return int(
        datetime.datetime.combine(date, datetime.time(7, 30), datetime.timezone.utc).timestamp())
