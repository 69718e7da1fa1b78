"""Prints the files that clang-tidy is to read, one a line: the product's, out of a
compile_commands.json."""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
commands = pathlib.Path(sys.argv[1]).resolve()
NOT_PRODUCT = (commands.parent / "tests", ROOT / "tests", commands.parent / "alone")
for entry in json.loads(commands.read_text()):
    path = pathlib.Path(entry["file"])
    if "_headers.dir" not in str(path) and not any(
            path.is_relative_to(folder) for folder in NOT_PRODUCT):
        print(path)
