"""Every program that is installed is hardened: loaded at random addresses, with nothing writable
that its calls go through, and with checks of buffers and stacks. Under a sanitizer nothing of this
is set."""
import os
import pathlib
import platform
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("NIGHTJAR_BIN", ROOT / "build" / "bin"))
INSTALLED = ("nightjard", "nightjar", "nightjar-runner", "nightjar-confine")
STATIC = ("nightjar-confine", )
MARK = b"\xf3\x0f\x1e\xfa"  # where an indirect jump may lead


def readelf(program, *options):
    return subprocess.run(["readelf", "--wide", *options, BIN / program], check=True,
                          capture_output=True, text=True, env=os.environ | {"LC_ALL": "C"}).stdout


def imports(program):
    return set(re.findall(r" UND (\w+)@", readelf(program, "--dyn-syms")))


def first_bytes_of_main(program):
    value = int(re.search(r"^\s*\d+: (\w+) .* main$", readelf(program, "--syms"), re.M)[1], 16)
    address, offset = (int(number, 16) for number in re.search(
        r"\] \.text +PROGBITS +(\w+) (\w+)", readelf(program, "--sections")).groups())
    return (BIN / program).read_bytes()[value - address + offset:][:len(MARK)]


def test_what_is_installed_is_looked_at():
    installed = (ROOT / "deploy/install.cmake").read_text()
    pattern = r"^nightjar_install\(\w+ (\S+?)[ )]|^install\(TARGETS (\S+)"
    named = re.findall(pattern, installed, re.M)
    assert sorted("".join(one) for one in named) == sorted(INSTALLED)


@pytest.mark.parametrize("program", INSTALLED)
def test_an_installed_program_is_hardened(program):
    assert "DYN (Position-Independent Executable file)" in readelf(program, "--file-header")
    segments = readelf(program, "--program-headers")
    assert re.search(r"GNU_STACK .* RW +0x", segments), "its stack can be executed"
    assert "GNU_RELRO" in segments
    assert not re.search(r"LOAD .* RWE ", segments)
    dynamic = readelf(program, "--dynamic")
    assert re.search(r"FLAGS_1\).*NOW", dynamic), "its calls are bound late"
    assert not re.search(r"\((RPATH|RUNPATH|TEXTREL)\)", dynamic)
    if platform.machine() == "x86_64":
        assert first_bytes_of_main(program) == MARK, "an indirect jump may lead anywhere"


@pytest.mark.parametrize("program", [name for name in INSTALLED if name not in STATIC])
def test_an_installed_program_checks_its_buffers(program):
    used = imports(program)
    assert "__stack_chk_fail" in used
    assert {"__read_chk", "__snprintf_chk", "__fprintf_chk", "__memcpy_chk"} & used, "not fortified"
    # What the library calls where an index is out of range.
    assert any("__glibcxx_assert_fail" in name for name in used)
