"""How native workloads are linked: against a LibTorch that needs libraries which do not lie beside
it, as a CUDA build in an agent's environment does."""

import os
import pathlib
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "runner" / "workloads"


def library(path, source, *options):
    subprocess.run([
        "g++", "-shared", "-fPIC", "-o", path, f"-Wl,-soname,{path.name}", "-x", "c++", "-", "-x",
        "none", *options], input=source, text=True, check=True)


def link_options(folder, libraries):
    """What the project's link command has besides its own objects."""
    build = folder / "build"
    subprocess.run([
        "cmake", "-S", WORKLOADS, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_SKIP_RPATH=ON", f"-DLIBTORCH={folder}", f"-DTORCH_INCLUDE={folder}",
        *(f"-Dlib_{name}={path}" for name, path in libraries.items())], check=True,
                   capture_output=True)
    commands = subprocess.run(["ninja", "-C", build, "-t", "commands", "nightjar-native"],
                              check=True, text=True, capture_output=True).stdout.splitlines()
    return [
        word for word in shlex.split(commands[-1])
        if word.startswith("-Wl,") or word.endswith(".so")]


def test_a_libtorch_whose_own_needs_lie_elsewhere_is_linked_and_runs_once_told_where(tmp_path):
    elsewhere, torch = tmp_path / "nvidia" / "lib", tmp_path / "torch"
    elsewhere.mkdir(parents=True)
    torch.mkdir()
    library(elsewhere / "libof_the_wheels.so", "extern \"C\" int cuda() { return 0; }")
    libraries = {name: torch / f"lib{name}.so" for name in ("torch", "torch_cpu", "c10")}
    for name, path in libraries.items():
        library(path, f"int {name}() {{ return 0; }}")
    # As PyTorch's: libtorch.so has no code of its own and needs this one.
    library(torch / "libtorch_cuda.so",
            "extern \"C\" int cuda(); int of_torch() { return cuda(); }", f"-L{elsewhere}",
            "-lof_the_wheels")
    library(libraries["torch"], "", "-Wl,--no-as-needed", torch / "libtorch_cuda.so",
            "-Wl,-rpath,$ORIGIN")

    program = tmp_path / "program"
    done = subprocess.run(
        ["g++", "-x", "c++", "-", "-o", program, "-x", "none", *link_options(tmp_path, libraries)],
        cwd=tmp_path / "build", input="int main() { return 0; }", text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    run = lambda *folders: subprocess.run([program], env={
        **os.environ, "LD_LIBRARY_PATH": ":".join(map(str, folders))}, capture_output=True
                                          ).returncode
    assert run(torch) == 127
    assert run(torch, elsewhere) == 0
