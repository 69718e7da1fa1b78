"""Makes a folder with a made history and a configuration to serve it with.

    python tests/support/history FOLDER [--nights N] [--workloads N] [--seed N] [--serve] [--remove]
    build/bin/nightjard --config FOLDER/nightjar.toml

The defaults are two years of 400 workloads, which takes minutes and gigabytes. A test takes 30
nights of 14 workloads, which is seconds."""

import argparse
import pathlib
import shutil
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from make import make, serve


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--nights", type=int, default=730)
    parser.add_argument("--workloads", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--serve", action="store_true", help="and serve it until Ctrl-C")
    parser.add_argument("--remove", action="store_true", help="remove the folder at the end")
    options = parser.parse_args()
    if options.nights < 12 or options.workloads < 4:
        parser.error("a history has 12 nights and 4 workloads at least")
    return options


def serve_until_ended(folder):
    print("the service sums up the nights", file=sys.stderr, flush=True)
    process, address = serve(folder)
    print(f"look at {address}/ and {folder}; Ctrl-C ends it", flush=True)
    try:
        return process.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        process.terminate()
        process.wait()


def main():
    options = parse()
    # The service ends as well, however it was started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        make(options.folder, options.nights, options.workloads, options.seed,
             progress=lambda text: print(text, file=sys.stderr, flush=True))
        if options.serve:
            return serve_until_ended(options.folder)
        print(f"build/bin/nightjard --config {options.folder}/nightjar.toml")
        return 0
    except KeyboardInterrupt:
        return 130
    finally:
        if options.remove:
            shutil.rmtree(options.folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
