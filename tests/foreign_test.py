"""Text and numbers that others write become ours in few places, which know their limits."""

import pathlib
import re
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).parent))

from star_test import ROOT, sources

# Reads JSON that we wrote and stored ourselves, or a constant; and programs that stand alone.
PARSES_OWN_JSON = (
    "storage/model/foreign_json.cpp", "storage/model/foreign_stream.cpp", "storage/sessions.cpp",
    "storage/model/domain.cpp", "storage/text_map.cpp", "storage/source_builds.cpp",
    "storage/jobs.cpp", "bisect/evidence/verify.cpp",
    "service/engine/", "service/report/exporter.cpp", "service/api/imports.cpp",
    "service/api/respond.cpp", "runner/workloads/")
READS_NUMBERS = ("storage/model/json_io.hpp", "runner/workloads/")
INTEGER = r"(?:unsigned|short|int|long|std::u?int\d+_t|std::size_t)[ a-z]*"
RULES = [
    (PARSES_OWN_JSON, re.compile(r"[jJ]son::parse\("),
     "JSON of others is parsed by parse_foreign (storage/model/foreign_json.hpp)"),
    # The library makes 3 of 3.7, and anything of 1e10.
    (READS_NUMBERS, re.compile(rf"get<{INTEGER}>\(\)|get_to<{INTEGER}>"),
     "an integer of JSON is read by field or parse_json (storage/model/json_io.hpp)"),
    (READS_NUMBERS, re.compile(rf'\.value\("[^"]*", (?:-?\d+\)|{INTEGER}[{{(])'),
     "an integer of JSON is read by field_or (storage/model/json_io.hpp)"),
]


def complaints_about(path, line):
    return [why for exempt, pattern, why in RULES
            if not path.startswith(exempt) and pattern.search(line)]


def test_what_others_write_is_read_with_its_limits():
    complaints = []
    for path in sources():
        relative = path.relative_to(ROOT).as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for why in complaints_about(relative, line):
                complaints.append(f"{relative}:{number}: {why}")
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize("line", [
    "const auto json = nlohmann::json::parse(body, nullptr, false);",
    "run.id = item.at(\"id\").get<std::int64_t>();",
    "return found->get<int>();",
    "body.at(\"size\").get<unsigned long>();",
    'if (bundle.value("format_version", 1) >= 2)',
    'json.value("bytes", std::int64_t{0})',
])
def test_a_reading_without_limits_is_named(line):
    assert complaints_about("service/report/github.cpp", line)


@pytest.mark.parametrize("path, line", [
    ("service/report/github.cpp", 'run.id = field<std::int64_t>(item, "id");'),
    ("service/report/github.cpp", "value.get<double>()"),
    ("service/report/github.cpp", 'json.value("noise", 0.0)'),
    ("service/report/github.cpp", "parse_json(count, Parsed<int>{})"),
    ("storage/jobs.cpp", "nlohmann::json::parse(row.next<std::string>()).get<JobSpec>()"),
])
def test_a_reading_with_limits_is_let_through(path, line):
    assert not complaints_about(path, line)
