"""What a program of deploy/wheel is made of besides our sources, read from where it was compiled:
the headers that ninja's log names, and the compiler's libraries that the linker was given."""

import os
import pathlib
import re
import subprocess
import sys
import urllib.parse
from dataclasses import dataclass

import ziglang

COMPILER = pathlib.Path(ziglang.__file__).parent
LIBRARIES = COMPILER / "lib"
# {pattern of Debian's package: (name, licence, whether a program has to bring the licence along)}
PACKAGES = {r"libboost[0-9.]*-dev": ("boost", "BSL-1.0", False),
            r"libcli11-dev": ("cli11", "BSD-3-Clause", True),
            r"nlohmann-json3-dev": ("nlohmann-json", "MIT", True)}
# {library that the compiler brings: whose it is}. Two are written in its own language.
ARCHIVES = {"c++": "libc++", "c++abi": "libc++abi", "unwind": "libunwind", "c": "musl",
            "zigc": "zig", "compiler_rt": "zig"}


@dataclass
class Component:
    name: str
    version: str
    licence: str  # in SPDX's words
    purl: str
    notice: pathlib.Path | None = None  # the licence's text, if a program has to bring it along


def components(builds):
    """What is in the programs of these build folders, sorted by name."""
    headers = set().union(*map(headers_of, builds))
    archives = set().union(*map(archives_of, builds))
    return sorted([*compiled_in(headers), *linked_in(archives)], key=lambda part: part.name)


def headers_of(build):
    """Each header that is neither ours nor the compiler's, as its real path."""
    said = output_of("ninja", "-C", build, "-t", "deps")
    paths = {(build / line.strip()).resolve() for line in said.splitlines()
             if line.startswith("    ")}
    if not paths:
        sys.exit(f"pack.py: {build} does not say what it was compiled from; remove that folder, "
                 "and run deploy/wheel again")
    return {path for path in paths if path.is_relative_to("/usr")}


def archives_of(build):
    """Names of the libraries that its program is linked to, which happens again for that."""
    (build / "bin/nightjar").unlink()
    said = output_of("ninja", "-C", build, "-v", ZIG_VERBOSE_LINK="1")
    return set(re.findall(r"/lib([\w+]+)\.a\b", said))


def compiled_in(headers):
    packages = {line.partition(":")[0] for line in
                output_of("dpkg-query", "--search", *headers).splitlines()}
    for package in packages:
        known = [about for pattern, about in PACKAGES.items() if re.fullmatch(pattern, package)]
        if not known:
            sys.exit(f"pack.py: {package} is compiled in, and contents.py does not know its "
                     "licence")
        name, licence, shown = known[0]
        version = output_of("dpkg-query", "-W", "-f", "${Version}", package)
        notice = pathlib.Path("/usr/share/doc", package, "copyright") if shown else None
        yield Component(name, version, licence, purl("deb/debian", package, version), notice)


def linked_in(archives):
    if unknown := archives - set(ARCHIVES):
        sys.exit(f"pack.py: {', '.join(sorted(unknown))} is linked, and contents.py does not know "
                 "its licence")
    zig = output_of(sys.executable, "-m", "ziglang", "version").strip()
    musl = found_in("libc/musl/src/internal/version.h", r'VERSION "(.+)"')
    number = found_in("libcxx/include/__config", r"_LIBCPP_VERSION (\d{6})")
    llvm = ".".join(str(int(number[i:i + 2])) for i in (0, 2, 4))  # all of one release
    for name in {ARCHIVES[one] for one in archives}:
        if name == "zig":
            yield Component(name, zig, "MIT", purl("pypi", "ziglang", zig), COMPILER / "LICENSE")
        elif name == "musl":
            yield Component(name, musl, "MIT", purl("generic", name, musl),
                            LIBRARIES / "libc/musl/COPYRIGHT")
        else:
            yield Component(name, llvm, "Apache-2.0 WITH LLVM-exception",
                            purl("generic", name, llvm))


def purl(kind, name, version):
    return f"pkg:{kind}/{urllib.parse.quote(name)}@{urllib.parse.quote(version)}"


def found_in(path, pattern):
    return re.search(pattern, (LIBRARIES / path).read_text())[1]


def output_of(*command, **environment):
    """What a program says, errors included. It has to succeed."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=os.environ | environment)
    if done.returncode != 0:
        sys.exit(f"pack.py: {command[0]} fails: {done.stdout[-500:]}")
    return done.stdout
