"""The star of docs/architecture.md: who may include whom, and where third-party headers may be."""

import functools
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
# A longer name before its beginning: the first that fits is a file's room.
ROOMS = [
    "storage/base", "storage/model", "storage", "bisect/git", "bisect/evidence", "bisect", "web",
    "runner/workloads", "runner/confine", "runner/process", "runner/machine", "runner/catalog",
    "runner/build", "runner/make", "runner/format", "runner/run", "runner/agent", "runner/cli",
    "runner", "service/cli", "service"]
# Besides itself and storage/model. The runner's rooms are in order: each may use those above it.
MAY_INCLUDE = {
    "storage/base": set(),
    "storage/model": set(),
    "storage": {"storage/base"},
    "bisect": {"storage/base"},  # only foreign_number.hpp: it links no library
    "bisect/git": {"storage/base"},
    "bisect/evidence": {"bisect", "storage/base"},  # as bisect
    "web": {"storage/base"},
    "runner/workloads": set(),
    "runner/confine": {"storage/base"},  # only fd.hpp: it links no library
    "runner/process": {"storage/base"},
    "runner/machine": {"storage/base", "runner/process"},
    "runner/catalog": {"storage/base", "runner/process"},
    "runner/build": {"storage/base", "web", "runner/process", "runner/catalog"},
    "runner/make": {"storage/base", "runner/process", "runner/build"},
    "runner/format": {"storage/base", "bisect", "runner/catalog", "runner/build"},
    "runner/run": {"storage/base", "runner/process", "runner/machine", "runner/catalog",
                   "runner/build", "runner/format"},
    "runner/agent": {"storage/base", "web", "runner/process", "runner/machine", "runner/make",
                     "runner/run"},
    "runner/cli": {"storage/base", "web", "runner/process", "runner/machine", "runner/catalog",
                   "runner/build", "runner/make", "runner/format", "runner/run", "runner/agent"},
    "runner": {"storage/base", "runner/cli", "runner/process", "runner/run"},
    "service/cli": {"storage/base", "bisect", "bisect/evidence", "web", "runner/process",
                    "runner/format"},
    "service": {"storage", "storage/base", "bisect", "bisect/evidence", "bisect/git", "web"},
}
RUNNER = [room for room in ROOMS
          if room.startswith("runner/") and room not in ("runner/workloads", "runner/confine")]
# Header prefix to the rooms that may use it; "runner" stands for all of RUNNER.
THIRD_PARTY = {
    "sqlite3": {"storage"},
    "git2": {"bisect/git"},
    "boost/math": {"bisect"},
    "boost/beast": {"web"},
    "boost/url": {"web"},
    "boost/describe": {"storage/model"},
    "boost/asio": {"web", "service"},
    "curl/": {"web"},
    "openssl/": {"web", "storage/base", "service"},
    "archive": {"runner/build", "service"},
    "libxml/": {"service"},
    "zlib.h": {"service"},
    "toml++": {"storage/base"},
    "re2/": {"storage/base"},
    "regex": set(),  # it recurses once a character; storage/base/pattern.hpp does not
    "regex.h": set(),
    "boost/regex": set(),
    "CLI/": {"runner", "service", "service/cli"},
    "fmt/": {"storage/base"},
    "spdlog/": {"storage/base"},
    "torch/": {"runner/workloads"},
    "ATen/": {"runner/workloads"},
    "c10/": {"runner/workloads"},
    "catch2/": set(),
    "Python.h": set(),
    "nlohmann/json.hpp": {"storage/model", "runner/workloads"},
    "nlohmann/": {"bisect/evidence", "storage/model", "storage", "web", "runner",
                  "runner/workloads", "service", "service/cli"},
}
# Headers that are slow to compile, and the folders whose own headers may bring them along, be it
# through others. JSON belongs to the words of the model and to REST; no other header takes part.
SLOW = {
    "nlohmann/json.hpp": {"storage/model", "service/api"},
    "boost/beast": set(),
    "sqlite3.h": set(),
    "curl/": set(),
    "toml++": set(),
}


# The engine's folders in order: each may use those before it.
ENGINE = ["jobs", "verdict", "trust", "search", "night", "outcome"]


def engine_folder(path):
    parts = path.split("/")
    return parts[2] if parts[:2] == ["service", "engine"] and len(parts) == 4 else None


def breaks_engine_order(path, header):
    """Whether an engine's file includes a folder of the engine that comes after its own."""
    own, other = engine_folder(path), engine_folder(header)
    return own is not None and other is not None and ENGINE.index(other) > ENGINE.index(own)


def room_of(path):
    return next((room for room in ROOMS if path.startswith(room + "/")), None)


def complaint(path, line):
    """What is wrong with an include line of the file `path`; None if nothing is."""
    match = re.match(r'\s*#\s*include\s*(["<])([^">]+)', line)
    if not match:
        return None
    room, kind, header = room_of(path), *match.groups()
    if kind == '"':
        other = room_of(header)
        allowed = {room, "storage/model"} | MAY_INCLUDE[room]
        if room == "runner/workloads":
            allowed = {room}  # stand-alone programs
        if other is None and header.endswith(".hpp") and room != "runner/workloads":
            return f"{header}: no path from the repository's root"
        if other is not None and other not in allowed:
            return f"{room} may not include {other}"
        if breaks_engine_order(path, header):
            return f"{header} comes after {engine_folder(path)} in the engine's order"
        return None
    for prefix, rooms in THIRD_PARTY.items():
        if header.startswith(prefix) and not {room, "runner" if room in RUNNER else room} & rooms:
            return f"<{header}> is not for {room}"
    return None


def included_by(text):
    return re.findall(r'^\s*#\s*include\s*["<]([^">]+)', text, re.MULTILINE)


def slow_headers(texts):
    """Complaints about the headers that bring along what only .cpp files may include. `texts` are
    all headers by their paths."""
    includes = {path: included_by(text) for path, text in texts.items()}

    @functools.cache
    def brings(path, slow):
        return any(one.startswith(slow) or one in includes and brings(one, slow)
                   for one in includes[path])

    return [f"{path} brings <{slow}> along"
            for path in includes for slow, folders in SLOW.items()
            if path.rpartition("/")[0] not in folders and brings(path, slow)]


def sources():
    folders = sorted({room.split("/")[0] for room in ROOMS})
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.[ch]pp"))]


def test_every_include_keeps_to_the_star():
    complaints = []
    for path in sources():
        relative = path.relative_to(ROOT).as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if (wrong := complaint(relative, line)) is not None:
                complaints.append(f"{relative}:{number}: {wrong}")
    assert not complaints, "\n".join(complaints)
    assert len(sources()) > 50


def test_no_header_brings_along_what_is_slow_to_compile():
    headers = {path.relative_to(ROOT).as_posix(): path.read_text()
               for path in sources() if path.suffix == ".hpp"}
    assert slow_headers(headers) == []


def test_a_slow_header_is_seen_through_others():
    headers = {
        "storage/model/json_io.hpp": "#include <nlohmann/json.hpp>\n",
        "service/api/rows.hpp": '#include "storage/model/json_io.hpp"\n',
        "service/config.hpp": "#include <nlohmann/json_fwd.hpp>\n",
    }
    assert slow_headers(headers) == []
    headers["storage/model/job.hpp"] = '#include "storage/model/json_io.hpp"\n'
    headers["storage/jobs.hpp"] = '#pragma once\n\n#include "storage/model/job.hpp"\n'
    headers["storage/database.hpp"] = "#  include <sqlite3.h>\n"
    headers["web/server/server.hpp"] = "#include <boost/beast/http.hpp>\n"
    assert slow_headers(headers) == [
        "storage/jobs.hpp brings <nlohmann/json.hpp> along",
        "storage/database.hpp brings <sqlite3.h> along",
        "web/server/server.hpp brings <boost/beast> along"]


def own_header_hidden(path):
    """Whether a .cpp with a header of its name includes something else before it: then nothing
    shows that the header compiles alone."""
    header = path.with_suffix(".hpp")
    if path.suffix != ".cpp" or not header.exists():
        return False
    included = included_by(path.read_text())
    return not included or pathlib.Path(included[0]).name != header.name


def test_every_source_includes_its_own_header_first():
    assert [str(path.relative_to(ROOT)) for path in sources() if own_header_hidden(path)] == []


def test_a_header_behind_another_include_is_seen(tmp_path):
    (tmp_path / "jobs.hpp").write_text("")
    source = tmp_path / "jobs.cpp"
    source.write_text('#include <vector>\n#include "storage/jobs.hpp"\n')
    assert own_header_hidden(source)
    source.write_text('#include "storage/jobs.hpp"\n#include <vector>\n')
    assert not own_header_hidden(source)


# Calls that make a process or a program, and the only files with them. storage/base/child closes
# what the program must not have, and runner/confine runs between it and a build.
STARTS = re.compile(r"\b(?:v?fork|execv?[elp]*|posix_spawnp?|popen|system)\("
                    r"|(?<!\w)::clone\(|SYS_clone")
MAY_START = {"storage/base/child.cpp", "runner/confine/main.cpp", "runner/confine/filter.cpp"}


def starts_in(text):
    code = re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"', "", text)
    return STARTS.findall(code)


def test_one_place_starts_programs():
    found = {path.relative_to(ROOT).as_posix() for path in sources()
             if starts_in(path.read_text()) and room_of(str(path.relative_to(ROOT)))
             != "runner/workloads"}
    assert found == MAY_START


@pytest.mark.parametrize("code, starts", [
    ("pid_t child = ::fork();", True), ("std::system(line.c_str());", True),
    ("::execve(a, b, c);", True), ("popen(command, mode)", True), ("posix_spawn(&pid)", True),
    ("// after fork() nothing", False), ('log("fork()")', False), ("run_forked(x)", False),
    ("executor.run(task)", False), ("operating_system(x)", False)])
def test_a_start_of_a_program_is_seen(code, starts):
    assert bool(starts_in(code)) == starts


@pytest.mark.parametrize("path, line", [
    ("storage/jobs.hpp", '#include "bisect/statistics.hpp"'),
    ("storage/jobs.cpp", '#include "web/client.hpp"'),
    ("storage/model/job.hpp", '#include "storage/jobs.hpp"'),
    ("bisect/search.cpp", '#include "bisect/git/commit_graph.hpp"'),
    ("bisect/git/repository.cpp", '#include "bisect/search.hpp"'),
    ("runner/agent/agent.cpp", '#include "storage/jobs.hpp"'),
    ("runner/confine/main.cpp", '#include "runner/process/process.hpp"'),
    ("runner/process/confinement.cpp", '#include "runner/confine/plan.hpp"'),
    ("runner/cli/commands.cpp", '#include "bisect/git/nightly.hpp"'),
    ("runner/build/python.hpp", '#include "runner/run/protocol.hpp"'),
    ("runner/catalog/suite.cpp", "#include <toml++/toml.h>"),
    ("runner/catalog/suite.cpp", "#include <regex>"),
    ("service/config.cpp", "#include <re2/re2.h>"),
    ("service/main.cpp", '#include "runner/agent/agent.hpp"'),
    ("service/engine/engine.cpp", '#include "runner/process/process.hpp"'),
    ("service/engine/search/blame.cpp", '#include "service/engine/outcome/report_facts.hpp"'),
    ("service/cli/main.cpp", '#include "runner/run/measure.hpp"'),
    ("service/daemon.cpp", "#include <spdlog/spdlog.h>"),
    ("service/main.cpp", '#include "agent.hpp"'),
    ("web/server/server.cpp", "#include <sqlite3.h>"),
    ("service/report/github.cpp", "#include <curl/curl.h>"),
    ("web/client.cpp", "#include <libxml/HTMLparser.h>"),
    ("runner/agent/agent.cpp", "#  include <torch/torch.h>"),
])
def test_a_forbidden_include_is_named(path, line):
    assert complaint(path, line)


@pytest.mark.parametrize("path, line", [
    ("storage/jobs.hpp", '#include "storage/model/job.hpp"'),
    ("service/engine/night/nights.cpp", '#include "bisect/git/commit_graph.hpp"'),
    ("service/engine/outcome/reporting.hpp",
     '#include "service/engine/search/boundary_profiles.hpp"'),
    ("runner/workloads/main.cpp", '#include "harness/run.hpp"'),
    ("runner/workloads/main.cpp", "#include <torch/torch.h>"),
    ("web/server/server.cpp", "#include <boost/beast/http.hpp>"),
    ("service/config.hpp", "#include <nlohmann/json_fwd.hpp>"),
    ("service/main.cpp", "#include <vector>"),
])
def test_an_allowed_include_is_let_through(path, line):
    assert complaint(path, line) is None
