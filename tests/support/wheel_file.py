"""Writes wheels of a few files, for tests."""

import pathlib
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "deploy" / "demo.d"))

import wheel


def write(path, info, files):
    """A wheel of {name: bytes} at `path`, with its RECORD in the folder `info`."""
    lines = [wheel.record_line(name, data) for name, data in files.items()]
    record = "".join(",".join(line) + "\n" for line in [*lines, [f"{info}/RECORD", "", ""]])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in [*files.items(), (f"{info}/RECORD", record.encode())]:
            member = zipfile.ZipInfo(name, (2026, 8, 20, 0, 0, 0))  # the same bytes every time
            archive.writestr(member, data, zipfile.ZIP_DEFLATED)
