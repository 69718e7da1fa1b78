"""Packs the program nightjar into wheels: pack.py --out FOLDER ARCHITECTURE=BUILD-FOLDER ... A
wheel also has what a package of the program has: its manual, completion for shells and licences.

Beside the wheels come what is inside, as CycloneDX, and SHA256SUMS. All dates are that of
SOURCE_DATE_EPOCH, and nothing else depends on the time or the folder."""

import argparse
import base64
import hashlib
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time
import uuid
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "deploy/install.d"))
import pages

# The program needs no C library, so it suits every one of both kinds.
TAGS = "manylinux_2_17_{0}.manylinux2014_{0}.musllinux_1_1_{0}"
FIRST_SECOND = 315532800  # of 1980, the earliest that an archive can tell
# `git nightjar` runs a program of this name.
FOR_GIT = b'#!/bin/sh\nexec "$(dirname "$0")/nightjar" "$@"\n'
ABOUT = "Noise-aware change detection, comparison and bisection"
COMPLETIONS = {"bash": "bash-completion/completions/nightjar",
               "zsh": "zsh/site-functions/_nightjar",
               "fish": "fish/vendor_completions.d/nightjar.fish"}  # below share/


def version_of_sources():
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"^project\(nightjar VERSION ([0-9.]+)", text, re.MULTILINE)[1]


def date():
    """Seconds since 1970."""
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), FIRST_SECOND)


def as_it_runs_here(program, architecture, folder):
    """The program, or a script in `folder` that emulates its processor."""
    if architecture == platform.machine():
        return program
    script = folder / "nightjar"
    script.write_text(f'#!/bin/sh\nexec qemu-{architecture} -0 nightjar "{program}" "$@"\n')
    script.chmod(0o755)
    return script


def manual_and_completions(program):
    """{path below share/: content}, as the program describes itself."""
    manual = pages.manual(pages.ask(program), pages.version_of(program))
    # `git nightjar --help` opens the second one.
    found = {"man/man1/nightjar.1": manual.encode(),
             "man/man1/git-nightjar.1": b".so man1/nightjar.1\n"}
    for shell, path in COMPLETIONS.items():
        found[path] = subprocess.run([program, "completion", shell], capture_output=True,
                                     check=True).stdout
    return found


def record_line(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def write_wheel(folder, version, architecture, program, shared, licences):
    """`shared`: {path below share/: content}. `licences`: {name: content}. The wheel's path."""
    tags = TAGS.format(architecture)
    info, data = f"nightjar-{version}.dist-info", f"nightjar-{version}.data"
    wheel = ["Wheel-Version: 1.0", "Generator: nightjar", "Root-Is-Purelib: false",
             *(f"Tag: py3-none-{one}" for one in tags.split("."))]
    members = {
        f"{data}/scripts/nightjar": program.read_bytes(),
        f"{data}/scripts/git-nightjar": FOR_GIT,
        f"{info}/METADATA": (f"Metadata-Version: 2.1\nName: nightjar\nVersion: {version}\n"
                             f"Summary: {ABOUT}\nLicense: Apache-2.0\n"
                             "Requires-Python: >=3.7\n").encode(),
        f"{info}/WHEEL": ("\n".join(wheel) + "\n").encode(),
        f"{info}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes(),
        **{f"{data}/data/share/{path}": content for path, content in shared.items()},
        **{f"{info}/licenses/{name}": content for name, content in licences.items()},
    }
    record = "".join(record_line(*one) for one in sorted(members.items()))
    members[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    path = folder / f"nightjar-{version}-py3-none-{tags}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in sorted(members.items()):
            entry = zipfile.ZipInfo(name, time.gmtime(date())[:6])
            is_program = name.startswith(f"{data}/scripts/")
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=9)
    return path


def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def bill_of_materials(version, wheels, parts):
    libraries = [{"type": "library", "bom-ref": part.name, "name": part.name,
                  "version": part.version, "licenses": [{"expression": part.licence}],
                  "purl": part.purl} for part in parts]
    files = [{"type": "file", "bom-ref": wheel.name, "name": wheel.name,
              "hashes": [{"alg": "SHA-256", "content": digest_of(wheel)}]} for wheel in wheels]
    content = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(date())),
            "component": {
                "type": "application", "bom-ref": "nightjar", "name": "nightjar",
                "version": version, "licenses": [{"expression": "Apache-2.0"}]}},
        "components": files + libraries,
        "dependencies": [{"ref": "nightjar", "dependsOn": [part.name for part in parts]}],
    }
    name = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return {"serialNumber": f"urn:uuid:{name}", **content}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--version", default=version_of_sources())
    parser.add_argument("builds", nargs="+", metavar="ARCHITECTURE=BUILD-FOLDER")
    options = parser.parse_args()
    builds = {architecture: pathlib.Path(folder).resolve() for architecture, _, folder in
              (one.partition("=") for one in options.builds)}
    # The processor of this machine first: what it says is the same, and no emulator is needed.
    asked = min(builds, key=lambda one: one != platform.machine())
    with tempfile.TemporaryDirectory() as folder:
        program = as_it_runs_here(builds[asked] / "bin/nightjar", asked, pathlib.Path(folder))
        shared = manual_and_completions(program)
    import contents  # for the compiler alone

    parts = contents.components(builds.values())
    licences = {f"{part.name}.txt": part.notice.read_bytes() for part in parts if part.notice}
    options.out.mkdir(parents=True, exist_ok=True)
    for old in options.out.glob("nightjar-*"):
        old.unlink()
    wheels = [write_wheel(options.out, options.version, architecture, folder / "bin/nightjar",
                          shared, licences) for architecture, folder in sorted(builds.items())]
    bill = options.out / f"nightjar-{options.version}.cdx.json"
    bill.write_text(
        json.dumps(bill_of_materials(options.version, wheels, parts), indent=2) + "\n")
    sums = "".join(f"{digest_of(path)}  {path.name}\n" for path in sorted([*wheels, bill]))
    (options.out / "SHA256SUMS").write_text(sums)


if __name__ == "__main__":
    main()
