"""Reads names of files from standard input, one a line, and prints each place where a text is a
literal translation: `file:line: what is wrong`. The exit status is 1 if there is one. Names of test
cases, and documents that quote them, are left out."""

import pathlib
import re
import sys

REFUSED = {
    re.compile(r"(?:^|(?<=\s))(?://+|#+|--|/?\*+)[ \t]*Of\b|(?:\"{3}|'{3})\s*Of\b", re.MULTILINE):
        "begins with \"Of\"; begin with a verb or a subject",
    re.compile(r"\b[Aa]new\b"): "say \"again\"",
    re.compile(r"\b[Ss]o\s+(?:(?://+|#+|\*+)\s*)?(?:many|much|long)\b"
               r"(?![^\n]*(?:\n[^\n]*)?\s(?:that|as)\b)"): "name the number or the time",
}
NAMED = re.compile(r"\bTEST_CASE\(\s*\"[^\"]*\"|_test`: \"[^\"]*\"")


def places(text):
    """The places in `text` that are refused: (line, what is wrong)."""
    bare = NAMED.sub(lambda name: "\n" * name.group().count("\n"), text)
    return sorted((bare.count("\n", 0, found.start()) + 1, why)
                  for pattern, why in REFUSED.items() for found in pattern.finditer(bare))


def main():
    refused = 0
    for name in sys.stdin.read().splitlines():
        for line, why in places(pathlib.Path(name).read_text(encoding="utf-8", errors="replace")):
            print(f"{name}:{line}: {why}")
            refused += 1
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
