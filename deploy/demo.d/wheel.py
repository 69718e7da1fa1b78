"""Reads the sources in PyTorch's wheel, and writes other wheels from it without compressing
again."""

import base64
import csv
import hashlib
import io
import os
import re
import zipfile

import native
from spliced import Spliced, Tail

FOLDERS = ("torch/", "torchgen/", "functorch/")
VERSION_FILE = "torch/version.py"
INSTALLED_HEADERS = "torch/include/"


def source_files(path):
    """The files of a repository of this PyTorch, its Python and the headers of its C++ front end:
    path to bytes."""
    with zipfile.ZipFile(path) as wheel:
        python = {name: wheel.read(name) for name in wheel.namelist()
                  if name.endswith(".py") and name.startswith(FOLDERS) and name != VERSION_FILE}
        headers = {name[len(INSTALLED_HEADERS):]: wheel.read(name) for name in wheel.namelist()
                   if name.startswith(INSTALLED_HEADERS + native.HEADERS)
                   and not name.endswith("/")}
    return python | headers


def installed(path):
    """Where a wheel has this file of the repository; None if it has not."""
    if path.startswith(native.HEADERS):
        return INSTALLED_HEADERS + path
    return path if path.startswith(FOLDERS) and path.endswith(".py") else None


def changed_members(stock, tree, library):
    """What differs from the installed PyTorch in a wheel of `tree`: {member: bytes; None: removed}.
    `library` is what was compiled from it."""
    members = {installed(path): tree.get(path) for path in stock.keys() | tree.keys()
               if installed(path) and tree.get(path) != stock.get(path)}
    return members | {native.LIBRARY: library}


def parts(path):
    """(version without a local part, tags) of a wheel's file name."""
    match = re.fullmatch(r"torch-([0-9.]+)(?:\+[\w.]+)?-(\w+-\w+-\w+)\.whl", os.path.basename(path))
    if not match:
        raise ValueError(f"{path} is no release wheel of torch (torch-X.Y.Z+cpu-TAGS.whl)")
    return match.group(1), match.group(2)


def variant(path):
    """The variant of this PyTorch, as a nightly's version names it: cpu, cu130, rocm7.2 or xpu. It
    is read from the wheel's content, since the name of PyPI's CUDA build has none."""
    with zipfile.ZipFile(path) as wheel:
        text = wheel.read(VERSION_FILE).decode()
    built_for = dict(re.findall(r"(?m)^(cuda|hip|xpu)\b[^=\n]*= *['\"]([^'\"]+)", text))
    if "cuda" in built_for:
        return "cu" + built_for["cuda"].replace(".", "")
    if "hip" in built_for:
        return "rocm" + ".".join(built_for["hip"].split(".")[:2])
    return "xpu" if "xpu" in built_for else "cpu"


def record_line(name, data):
    """A line of RECORD, in its cells."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return [name, f"sha256={digest}", str(len(data))]


def _record(old_record, moved, written):
    """RECORD with names changed by `moved` and the lines of `written` members. {name: None} removes
    a member."""
    lines = {}
    for name, *rest in csv.reader(io.StringIO(old_record)):
        lines[moved(name)] = [moved(name), *rest]
    for name, data in written.items():
        lines.pop(name, None)
        if data is not None:
            lines[name] = record_line(name, data)
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(lines.values())
    return out.getvalue().encode()


def _kept(source, infos):
    """Parts of the file `source` that hold these compressed members as they are, from header to
    header; members then say where they are behind one another."""
    ends = sorted(info.header_offset for info in source.infolist()) + [source.start_dir]
    following = dict(zip(ends, ends[1:]))
    parts, at = [], 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        start, end = info.header_offset, following[info.header_offset]
        if parts and parts[-1][1] + parts[-1][2] == start:
            parts[-1] = (source.filename, parts[-1][1], end - parts[-1][1])
        else:
            parts.append((source.filename, start, end - start))
        info.header_offset = at
        at += end - start
    return parts, at


def make(base, version, git_version, changed):
    """A wheel of `version`, `base` with {path: bytes or None} laid over: (its name, Spliced)."""
    _, tags = parts(base)
    with zipfile.ZipFile(base) as source:
        info_folder = next(name.split("/")[0] for name in source.namelist()
                           if re.fullmatch(r"torch-[^/]+\.dist-info/METADATA", name))
        new_folder = f"torch-{version}.dist-info"

        def moved(name):
            return new_folder + name[len(info_folder):] if name.startswith(info_folder
                                                                           + "/") else name

        old_version = info_folder[len("torch-"):-len(".dist-info")]
        written = dict(changed)
        text = source.read(VERSION_FILE).decode()
        text = re.sub(r"(?m)^__version__ = .*$", f"__version__ = '{version}'", text)
        text = re.sub(r"(?m)^git_version = .*$", f"git_version = '{git_version}'", text)
        written[VERSION_FILE] = text.encode()
        metadata = source.read(f"{info_folder}/METADATA").decode()
        written[f"{new_folder}/METADATA"] = metadata.replace(
            f"\nVersion: {old_version}\n", f"\nVersion: {version}\n", 1).encode()
        record = f"{new_folder}/RECORD"
        written[record] = _record(source.read(f"{info_folder}/RECORD").decode(), moved,
                                  {k: v for k, v in written.items() if k != record})
        renamed = [i for i in source.infolist() if moved(i.filename) != i.filename]
        kept = [i for i in source.infolist()
                if i.filename not in written and moved(i.filename) == i.filename]
        added = {moved(i.filename): source.read(i.filename) for i in renamed
                 if moved(i.filename) not in written}
        added |= {name: written[name] for name in sorted(set(written) - {record}) + [record]
                  if written[name] is not None}
        copied, size = _kept(source, kept)
    tail = Tail(size)
    with zipfile.ZipFile(tail, "w", zipfile.ZIP_DEFLATED) as target:
        target.filelist += kept
        target.NameToInfo |= {info.filename: info for info in kept}
        for name, data in added.items():
            target.writestr(name, data)
    return f"torch-{version}-{tags}.whl", Spliced([*copied, bytes(tail.data)])


def stored_in(wheel, name, others):
    """An archive with `wheel` stored as member `name` in front of {name: text} of `others`, of
    which there must be one."""
    info = zipfile.ZipInfo(name)
    info.file_size = info.compress_size = wheel.size
    info.CRC, info.header_offset = wheel.crc32(), 0
    header = info.FileHeader()
    tail = Tail(len(header) + wheel.size)
    with zipfile.ZipFile(tail, "w") as archive:
        archive.filelist.append(info)
        for other, text in others.items():
            archive.writestr(other, text)
    return Spliced([header, *wheel.parts, bytes(tail.data)])
