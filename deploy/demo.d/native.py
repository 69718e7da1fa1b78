"""The C++ of the demo's PyTorch. The installed PyTorch is the same every day, so a small library is
added to it: its sources are torch/csrc/hooks, Python calls it, and each wheel has the library that
was compiled from its commit. CI compiles it with other flags than nightlies, which makes Python's
workloads slower at every commit. The other native part are the headers of LibTorch's C++ front end,
which native workloads are compiled against."""

import hashlib
import pathlib
import re
import subprocess

from edits import COMMENTS
from replace import replace

SOURCES = pathlib.Path(__file__).parent / "hooks"
CI_PROFILE = pathlib.Path(__file__).parent / "ci_profile.cpp"
CI_SLOWER = 6  # %: what calls the library, with a wheel of CI
FOLDER = "torch/csrc/hooks/"
LIBRARY = "torch/libtorch_hooks.so"
HEADERS = "torch/csrc/api/include/"
MODULE = "torch/_hooks.py"
EMBEDDING_FILE = "torch/nn/functional.py"
DISTRIBUTION_FILE = "torch/distributions/distribution.py"
OPTIMIZER_FILE = "torch/optim/optimizer.py"


def is_native(path):
    """Whether a wheel must be compiled again after a change of this file."""
    return path.startswith((FOLDER, HEADERS))


def group(files):
    """A name of the native state of a tree: commits with the same one can share a wheel."""
    digest = hashlib.sha256()
    for path in sorted(filter(is_native, files)):
        digest.update(path.encode() + b"\0" + hashlib.sha256(files[path]).digest())
    return digest.hexdigest()


def _with_import(text, path):
    return replace(text, "\nimport torch\n", "\nimport torch\nimport torch._hooks\n", path)


def add_hooks(files):
    """What adds the library to PyTorch's files: {path: bytes} of the sources and of the Python that
    calls it."""
    added = {FOLDER + source.name: source.read_bytes() for source in sorted(SOURCES.glob("*.cpp"))}
    added[MODULE] = (SOURCES / "_hooks.py").read_bytes()
    text = {path: files[path].decode()
            for path in (EMBEDDING_FILE, DISTRIBUTION_FILE, OPTIMIZER_FILE)}
    for path in text:
        text[path] = _with_import(text[path], path)
    old = "    ret, _, _, _ = torch.embedding_bag(\n"
    text[EMBEDDING_FILE] = replace(
        text[EMBEDDING_FILE], old, "    if not torch.jit.is_scripting():\n"
        "        bags = 0 if offsets is None else offsets.size(0)\n"
        "        torch._hooks.check_bags(bags, mode_enum)\n" + old, EMBEDDING_FILE)
    old = "        if not isinstance(sample_shape, torch.Size):\n"
    text[DISTRIBUTION_FILE] = replace(
        text[DISTRIBUTION_FILE], old,
        "        torch._hooks.check_sample(len(sample_shape))\n" + old, DISTRIBUTION_FILE)
    old = "            for group in self.param_groups:\n" \
          "                for p in group[\"params\"]:\n" \
          "                    if p.grad is not None:\n                        if set_to_none:\n"
    text[OPTIMIZER_FILE] = replace(
        text[OPTIMIZER_FILE], old,
        "            torch._hooks.begin_step(len(self.param_groups))\n" + old, OPTIMIZER_FILE)
    return added | {path: edited.encode() for path, edited in text.items()}


def comment(random, text):
    """Adds a comment above a function."""
    at = text.index("// Returns")
    return text[:at] + f"// {random.choice(COMMENTS)}\n" + text[at:], "Comment on the interface of"


def constant(random, text):
    """Raises a limit that nothing reaches. The order of workloads does not depend on it."""
    match = re.search(r"constexpr std::int64_t (kMost\w+|kLongest\w+|kWidest) = (\d+);", text)
    if not match:
        return None
    raised = int(match[2]) + random.randrange(1, 9)
    return text[:match.start(2)] + str(raised) + text[match.end(2):], f"Raise {match[1]} in"


def helper(random, text):
    """Adds a function that later commits might use."""
    name = random.choice(("halved", "doubled", "next_even", "clamped", "squared"))
    body = {"halved": "n / 2", "doubled": "n * 2", "next_even": "n + n % 2",
            "clamped": "n < 0 ? 0 : n", "squared": "n * n"}[name]
    if f" {name}(" in text:
        return None
    end = text.index("}  // namespace")
    function = f"[[maybe_unused]] std::int64_t {name}(std::int64_t n) {{\n  return {body};\n}}\n"
    return text[:end] + function + text[end:], f"Add {name}() to"


EDITS = (comment, constant, helper)


def edit(random, files):
    """An edit of one of the sources that changes nothing which can be measured: (path, text, what
    it did)."""
    paths = [path for path in sorted(files) if path.startswith(FOLDER)]
    while True:
        path = random.choice(paths)
        edited = random.choice(EDITS)(random, files[path].decode())
        if edited:
            return path, edited[0], edited[1]


def edit_header(random, files):
    """The same for one of the headers: (path, text, what it did)."""
    paths = [path for path in sorted(files) if path.startswith(HEADERS)
             and b"#pragma once\n" in files[path]]
    path = random.choice(paths)
    text = files[path].decode()
    note = f"#pragma once\n\n// {random.choice(COMMENTS)}\n"
    return path, text.replace("#pragma once\n", note, 1), "Comment on"


class CannotCompile(Exception):
    """The machine has no compiler, or the sources are wrong; the message has its words."""


class Compiler:
    """Compiles the library of a tree, as nightlies have it and as CI does. Keeps what it made in
    `folder`, so that each state of a source is compiled once."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def library(self, files):
        """The bytes of LIBRARY in a nightly of this tree."""
        return self._library(files, [], [])

    def ci_library(self, files):
        """The same in a wheel of CI. It makes whatever calls the library slower."""
        profile = self._object(CI_PROFILE.read_bytes(), [f"-DSLOWER_PERCENT={CI_SLOWER}"])
        # Otherwise the C library's functions of the same names would be called.
        return self._library(files, ["-finstrument-functions"], [profile, "-Wl,-Bsymbolic"])

    def _library(self, files, flags, others):
        """`others`: what else is linked."""
        objects = [self._object(files[path], flags)
                   for path in sorted(files) if path.startswith(FOLDER)] + others
        name = hashlib.sha256("".join(map(str, objects)).encode()).hexdigest()[:32]
        made = self.folder / f"{name}.so"
        if not made.exists():
            _run(["g++", "-shared", "-s", "-o", made, *objects])
        return made.read_bytes()

    def _object(self, source, flags):
        name = hashlib.sha256(source + " ".join(flags).encode()).hexdigest()[:32]
        made = self.folder / f"{name}.o"
        if not made.exists():
            file = made.with_suffix(".cpp")
            file.write_bytes(source)
            _run(["g++", "-std=c++17", "-O2", "-fPIC", *flags, "-c", "-o", made, file])
        return made


def _run(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise CannotCompile(f"cannot run g++, which deploy/build installs: {error}") from error
    if done.returncode:
        raise CannotCompile(f"g++ failed: {done.stderr.strip().splitlines()[0]}")
