"""The C++ of the demo's PyTorch: what the day's commits make of it compiles and answers."""

import ctypes
import random

import pytest

import culprits
import native


@pytest.fixture(scope="module")
def compiler(tmp_path_factory):
    return native.Compiler(tmp_path_factory.mktemp("objects"))


@pytest.fixture
def sources():
    return {native.FOLDER + path.name: path.read_bytes() for path in native.SOURCES.glob("*.cpp")}


def load(compiler, files, folder):
    path = folder / f"{native.group(files)[:16]}.so"
    path.write_bytes(compiler.library(files))
    return ctypes.PyDLL(str(path))


def test_the_library_answers_what_python_asks(compiler, sources, tmp_path):
    library = load(compiler, sources, tmp_path)
    assert library.hooks_check_sample(0) == 0 == library.hooks_check_bags(128, 0)
    assert [library.hooks_begin_step(1), library.hooks_begin_step(1)] == [1, 2]
    assert library.hooks_check_sample(65) == 1 == library.hooks_check_bags(1, 3)


def test_each_state_of_a_source_is_compiled_once(tmp_path, sources, monkeypatch):
    compiler = native.Compiler(tmp_path)
    first = compiler.library(sources)
    changed = dict(sources)
    path = native.FOLDER + "text.cpp"
    changed[path] = sources[path].replace(b"kWidest = 80", b"kWidest = 81")
    commands = []
    run = native._run
    monkeypatch.setattr(native, "_run", lambda command: (commands.append(command), run(command)))
    assert compiler.library(sources) == first and commands == []
    assert compiler.library(changed) != first
    assert ["-c" in command for command in commands] == [True, False]
    assert compiler.library(changed) != first and len(commands) == 2


@pytest.mark.parametrize("kind", [kind for kind in culprits.KINDS
                                  if kind.path.startswith(native.FOLDER)], ids=lambda k: k.name)
def test_a_native_culprit_compiles_into_another_library(compiler, sources, tmp_path, kind):
    text = kind.edit(sources[kind.path].decode())
    library = load(compiler, sources | {kind.path: text.encode()}, tmp_path)
    assert library.hooks_check_bags(128, 0) == 0
    assert library.hooks_check_sample(0) == (1 if kind.metric == "failures" else 0)
    assert compiler.library(sources | {kind.path: text.encode()}) != compiler.library(sources)


def test_other_native_commits_compile_and_change_no_answer(compiler, sources, tmp_path):
    draw, files = random.Random(1), dict(sources)
    for _ in range(12):
        path, text, _ = native.edit(draw, files)
        assert files[path] != text.encode()
        files[path] = text.encode()
    library = load(compiler, files, tmp_path)
    assert library.hooks_check_sample(0) == 0 == library.hooks_check_bags(128, 0)
    for kind in culprits.KINDS:  # wherever it falls among the others
        if kind.path in files:
            assert kind.edit(files[kind.path].decode()) != files[kind.path].decode()


def test_wrong_sources_end_with_the_compilers_words(tmp_path, sources):
    broken = sources | {native.FOLDER + "text.cpp": b"int f( {\n"}
    with pytest.raises(native.CannotCompile, match="error"):
        native.Compiler(tmp_path).library(broken)
