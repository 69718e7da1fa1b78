"""Packs the program nightjar into wheels, whose only content it is: pack.py --out FOLDER
ARCHITECTURE=PROGRAM ... Beside them it writes what is inside, as CycloneDX, and SHA256SUMS. Nothing
depends on the time or the folder, so the same programs give the same files."""

import argparse
import base64
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import uuid
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The program needs no C library, so it suits every one of both kinds.
TAGS = "manylinux_2_17_{0}.manylinux2014_{0}.musllinux_1_1_{0}"
FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that an archive can tell
# `git nightjar` runs a program of this name.
FOR_GIT = b'#!/bin/sh\nexec "$(dirname "$0")/nightjar" "$@"\n'
ABOUT = "Noise-aware change detection, comparison and bisection"
# Debian's packages whose headers are compiled in, with their licences.
HEADERS = {"boost": ("libboost[0-9.]*-dev", "BSL-1.0"), "cli11": ("libcli11-dev", "BSD-3-Clause"),
           "nlohmann-json": ("nlohmann-json3-dev", "MIT")}


def version_of_sources():
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"^project\(nightjar VERSION ([0-9.]+)", text, re.MULTILINE)[1]


def record_line(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def write_wheel(folder, version, architecture, program):
    tag = f"py3-none-{TAGS.format(architecture)}"
    info, scripts = f"nightjar-{version}.dist-info", f"nightjar-{version}.data/scripts"
    wheel = ["Wheel-Version: 1.0", "Generator: nightjar", "Root-Is-Purelib: false"]
    wheel += [f"Tag: py3-none-{one}" for one in TAGS.format(architecture).split(".")]
    members = {
        f"{scripts}/nightjar": program.read_bytes(),
        f"{scripts}/git-nightjar": FOR_GIT,
        f"{info}/METADATA": (f"Metadata-Version: 2.1\nName: nightjar\nVersion: {version}\n"
                             f"Summary: {ABOUT}\nLicense: Apache-2.0\n"
                             "Requires-Python: >=3.7\n").encode(),
        f"{info}/WHEEL": ("\n".join(wheel) + "\n").encode(),
        f"{info}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes(),
    }
    record = "".join(record_line(*one) for one in members.items()) + f"{info}/RECORD,,\n"
    members[f"{info}/RECORD"] = record.encode()
    path = folder / f"nightjar-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, FIRST_DATE)
            entry.external_attr = (0o100755 if name.startswith(scripts) else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=9)
    return path


def installed_version(pattern):
    """(package, version) of the one that is installed."""
    found = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status} ${Version}\n", "lib*-dev",
         "nlohmann-json3-dev"], capture_output=True, text=True).stdout
    for line in found.splitlines():
        package, status, *version = line.split(" ")
        if re.fullmatch(pattern, package) and status == "installed":
            return package, version[0]
    sys.exit(f"pack.py: no package {pattern} is installed; deploy/wheel installs it")


def libraries():
    """What is compiled in, as components of CycloneDX."""
    import ziglang

    zig = pathlib.Path(ziglang.__file__).parent
    version = subprocess.run([sys.executable, "-m", "ziglang", "version"], capture_output=True,
                             text=True, check=True).stdout.strip()
    number = re.search(r"define _LIBCPP_VERSION (\d\d)(\d\d)(\d\d)",
                       (zig / "lib/libcxx/include/__config").read_text())
    llvm = ".".join(str(int(part)) for part in number.groups())
    found = [("zig", version, "MIT", f"pkg:pypi/ziglang@{version}"),
             ("musl", f"of zig {version}", "MIT", None),
             ("libc++", llvm, "Apache-2.0 WITH LLVM-exception", None)]
    for name, (pattern, licence) in HEADERS.items():
        package, number = installed_version(pattern)
        found.append((name, number, licence, f"pkg:deb/debian/{package}@{number}"))
    return [{"type": "library", "bom-ref": name, "name": name, "version": number,
             "licenses": [{"expression": licence}], **({"purl": purl} if purl else {})}
            for name, number, licence, purl in found]


def bill_of_materials(version, wheels):
    parts = libraries()
    files = [{"type": "file", "bom-ref": wheel.name, "name": wheel.name,
              "hashes": [{"alg": "SHA-256", "content": digest_of(wheel)}]} for wheel in wheels]
    content = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {
            "type": "application", "bom-ref": "nightjar", "name": "nightjar", "version": version,
            "licenses": [{"expression": "Apache-2.0"}]}},
        "components": files + parts,
        "dependencies": [{"ref": "nightjar", "dependsOn": [part["bom-ref"] for part in parts]}],
    }
    name = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return {"serialNumber": f"urn:uuid:{name}", **content}


def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--version", default=version_of_sources())
    parser.add_argument("programs", nargs="+", metavar="ARCHITECTURE=PROGRAM")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for old in options.out.glob("nightjar-*"):
        old.unlink()
    wheels = [write_wheel(options.out, options.version, architecture, pathlib.Path(program))
              for architecture, _, program in (one.partition("=") for one in options.programs)]
    bill = options.out / f"nightjar-{options.version}.cdx.json"
    bill.write_text(json.dumps(bill_of_materials(options.version, wheels), indent=2) + "\n")
    sums = "".join(f"{digest_of(path)}  {path.name}\n" for path in sorted([*wheels, bill]))
    (options.out / "SHA256SUMS").write_text(sums)


if __name__ == "__main__":
    main()
