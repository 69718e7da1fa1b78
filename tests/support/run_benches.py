"""Runs all benchmarks, one after the other: run_benches.py BIN_FOLDER. Called by tests/run
--bench."""

import glob
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    bin_folder = ROOT / sys.argv[1]
    environment = {**os.environ, "NIGHTJAR_BIN": str(bin_folder)}
    programs = [[path] for path in sorted(glob.glob(f"{bin_folder}/*_bench"))]
    programs += [[sys.executable, path]
                 for path in sorted(glob.glob(str(ROOT / "tests/bench/*.py")))]
    failed = []
    for program in programs:
        name = os.path.basename(program[-1])
        print(f"== {name}", flush=True)
        if subprocess.run(program, cwd=ROOT, env=environment).returncode:
            failed.append(name)
    print(f"{len(programs) - len(failed)} benchmarks ran, {len(failed)} failed {' '.join(failed)}".
          rstrip())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
