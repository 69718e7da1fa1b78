"""Measures a file of your own as the Python suite measures its models: `run_file.py FILE <
request`. FILE has a function make(case) that returns the step, see docs/workloads.md. It is for
commands of a runner's --commands file (docs/adapters.md)."""

import importlib.util
import pathlib
import sys

import run
from harness import definition, raised


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print("run_file.py takes a file with a function make(case), and a request on standard "
              "input", file=sys.stderr)
        return 2
    file = pathlib.Path(sys.argv[1]).resolve()
    if not file.is_file():
        print(f"run_file.py: there is no file {file}", file=sys.stderr)
        return 2
    raised.own(file)
    sys.path.append(str(file.parent))  # what the file imports may lie beside it

    def find(name, version, _sizes):
        return definition.own(name, version, file)

    def load(_found):
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    return run.serve(run.measured, find, load)


if __name__ == "__main__":
    sys.exit(main())
