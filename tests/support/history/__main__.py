"""Makes a folder with a made history and a configuration to serve it with.

    python tests/support/history FOLDER [--nights N] [--workloads N] [--seed N] [--serve]
    build/bin/nightjard --config FOLDER/nightjar.toml

The defaults are two years of 400 workloads, which takes minutes and gigabytes. A test takes 30
nights of 14 workloads, which is seconds."""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from make import make, serve

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--nights", type=int, default=730)
    parser.add_argument("--workloads", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--serve", action="store_true", help="and serve it until Ctrl-C")
    options = parser.parse_args()
    if options.nights < 12 or options.workloads < 4:
        parser.error("a history has 12 nights and 4 workloads at least")
    make(options.folder, options.nights, options.workloads, options.seed,
         progress=lambda text: print(text, file=sys.stderr, flush=True))
    if not options.serve:
        print(f"build/bin/nightjard --config {options.folder}/nightjar.toml")
        sys.exit()
    print("the service sums up the nights", file=sys.stderr, flush=True)
    process, address = serve(options.folder)
    print(f"look at {address}/ and {options.folder}; Ctrl-C ends it", flush=True)
    try:
        process.wait()
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
