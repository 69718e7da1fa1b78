"""Reads the Python files of PyTorch's wheel, and writes a nightly from it without compressing
again."""

import base64
import csv
import hashlib
import io
import os
import re
import zipfile

FOLDERS = ("torch/", "torchgen/", "functorch/")
VERSION_FILE = "torch/version.py"


def python_files(path):
    """The files of a repository of this PyTorch: path to bytes."""
    with zipfile.ZipFile(path) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist()
                if name.endswith(".py") and name.startswith(FOLDERS) and name != VERSION_FILE}


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


def _copy_raw(source, infos, target):
    """Copies compressed members as they are: their bytes from header to header."""
    ends = sorted(info.header_offset for info in source.infolist()) + [source.start_dir]
    following = dict(zip(ends, ends[1:]))
    for info in infos:
        start = info.header_offset
        source.fp.seek(start)
        info.header_offset = target.fp.tell()
        left = following[start] - start
        while left:
            chunk = source.fp.read(min(left, 1 << 20))
            target.fp.write(chunk)
            left -= len(chunk)
        target.filelist.append(info)
        target.NameToInfo[info.filename] = info
    target.start_dir = target.fp.tell()


def write_nightly(base, folder, version, git_version, changed):
    """A wheel of `version` in `folder`: `base` with {path: bytes or None} laid over. Returns its
    path."""
    old_release, tags = parts(base)
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
        path = os.path.join(folder, f"torch-{version}-{tags}.whl")
        renamed = [i for i in source.infolist() if moved(i.filename) != i.filename]
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
            _copy_raw(source, [
                i for i in source.infolist()
                if i.filename not in written and moved(i.filename) == i.filename], target)
            for info in renamed:
                if moved(info.filename) not in written:
                    target.writestr(moved(info.filename), source.read(info.filename))
            for name in sorted(set(written) - {record}) + [record]:
                if written[name] is not None:
                    target.writestr(name, written[name])
    return path
