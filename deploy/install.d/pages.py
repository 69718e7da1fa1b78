"""Writes a program's manual and its completion for bash from what its --help says, so that options
are described in one place: pages.py PROGRAM FOLDER."""

import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass, field

DAEMONS = {"nightjard"}  # their manual is in section 8, the others' in 1
DESCRIPTION_COLUMN = 30  # of CLI11's help
HEADINGS = ("Positionals", "Options", "Subcommands")
SPEC = re.compile(r"(?P<names>\S+?)(?P<flag>\{\w+\})?"
                  r"(?: (?P<type>[A-Z]+)?(?::(?P<check>\{[^}]*\}|[^=]*\]|[A-Z]+))?"
                  r"(?:=(?P<default>.*?))?)?"
                  r"(?P<several> \.\.\.)?(?P<required> REQUIRED)?"
                  r"(?: Needs: (?P<needs>\S+))?(?: Excludes: (?P<excludes>\S+))?")


@dataclass
class Entry:
    """An option, a positional argument or a subcommand."""
    names: list
    parts: dict
    text: str

    @property
    def choices(self):
        check = self.parts["check"] or ""
        return check.strip("{}").split(",") if check.startswith("{") else []

    @property
    def takes_value(self):
        return bool(self.parts["type"]) and not self.parts["flag"]


@dataclass
class Command:
    path: tuple
    about: str = ""
    usage: str = ""
    entries: dict = field(default_factory=lambda: {heading: [] for heading in HEADINGS})
    footer: list = field(default_factory=list)
    commands: list = field(default_factory=list)

    def all(self):
        yield self
        for command in self.commands:
            yield from command.all()


def split_entry(line, following):
    """(what stands left of an entry's description, the description). A left side that does not fit
    before the description's column has the description on the next line."""
    if following.startswith(" " * DESCRIPTION_COLUMN):
        return line.strip(), following.strip()
    if line[DESCRIPTION_COLUMN - 1:DESCRIPTION_COLUMN] == " ":
        return line[:DESCRIPTION_COLUMN].strip(), line[DESCRIPTION_COLUMN:].strip()
    return line.strip(), ""


def entry_of(spec, text):
    match = SPEC.fullmatch(spec)
    if not match:
        raise ValueError(f"cannot read \"{spec}\"")
    return Entry(match["names"].split(","), match.groupdict(), text)


def command_of(path, text):
    """One command's help without its subcommands' own."""
    command = Command(path)
    heading, lines = None, text.rstrip().splitlines() + [""]
    for number, line in enumerate(lines[:-1]):
        if command.usage == "":
            if line.startswith("Usage: "):
                command.usage = line.removeprefix("Usage: ")
            else:
                command.about = f"{command.about} {line}".strip()
        elif not command.footer and line.endswith(":") and line[:-1] in HEADINGS:
            heading = line[:-1]
        elif heading and line.startswith("  ") and not line.startswith(" " * DESCRIPTION_COLUMN):
            entry = entry_of(*split_entry(line, lines[number + 1]))
            command.entries[heading].append(entry)
        elif line and not line.startswith(" "):
            heading = None
            command.footer.append(line)
        elif heading is None and (command.footer or line):
            command.footer.append(line)
        elif not line:
            heading = None
    return command


def ask(program, path=()):
    """What the program and each of its subcommands answers to --help."""
    done = subprocess.run([program.name, *path, "--help"], executable=program, text=True,
                          capture_output=True, check=True, timeout=60)
    command = command_of((program.name, *path), done.stdout)
    for entry in command.entries["Subcommands"]:
        command.commands.append(ask(program, (*path, entry.names[0])))
    return command


def version_of(program):
    return subprocess.run([program, "--version"], text=True, capture_output=True, check=True,
                          timeout=60).stdout.strip()


def roff(text):
    for plain, escape in (("\\", r"\e"), ("-", r"\-"), ("'", r"\(aq"), ("`", r"\(ga"),
                          ("^", r"\(ha"), ("~", r"\(ti")):
        text = text.replace(plain, escape)
    return text if not text.startswith(".") else rf"\&{text}"


def described(entry):
    """The description with what the left side says of values, in sentences."""
    begin = entry.text.split(" ")[0]
    text = begin.capitalize() + entry.text[len(begin):] if begin.islower() and begin.isalpha() \
        else entry.text
    said = [text.rstrip(".")]
    check = entry.parts["check"] or ""
    if entry.choices:
        said.append("One of: " + ", ".join(entry.choices))
    elif " in " in check:
        said.append("From " + check[check.index("[") + 1:-1].replace(" - ", " to "))
    if entry.parts["default"]:
        said.append("Default: " + entry.parts["default"])
    if entry.parts["required"]:
        said.append("Required")
    if entry.parts["needs"]:
        said.append(f"Only together with {entry.parts['needs']}")
    if entry.parts["excludes"]:
        said.append(f"Not together with {entry.parts['excludes']}")
    return "".join(f"{part}. " for part in said if part).strip()


def roff_entry(entry):
    left = ", ".join(rf"\fB{roff(name)}\fR" for name in entry.names)
    if entry.takes_value:
        left += rf" \fI{entry.parts['type']}\fR" + ("..." if entry.parts["several"] else "")
    return [".TP", left, *filter(None, [roff(described(entry))])]


def roff_command(command):
    lines = []
    for heading, entries in command.entries.items():
        if entries and heading != "Subcommands":
            lines += [line for entry in entries for line in roff_entry(entry)]
    if command.footer:
        lines += [".PP", ".nf", *map(roff, command.footer), ".fi"]
    return lines


def manual(root, version):
    name, section = root.path[0], 8 if root.path[0] in DAEMONS else 1
    lines = [rf'.TH {roff(name.upper())} {section} "" "{roff(version)}" "Nightjar"', ".SH NAME",
             rf"{roff(name)} \- {roff(root.about[:1].lower() + root.about[1:].rstrip('.'))}",
             ".SH SYNOPSIS", roff(root.usage), ".SH OPTIONS", *roff_command(root)]
    if root.commands:
        lines += [".SH COMMANDS"]
        for command in root.all():
            if command.path != root.path:
                lines += [f'.SS "{roff(" ".join(command.path[1:]))}"', roff(command.about) + ".",
                          ".PP", roff(command.usage), *roff_command(command)]
    return "\n".join(lines) + "\n"


def completion(root):
    """A function for bash: subcommands, options, the values of an option, otherwise files."""
    name = root.path[0]
    function = "_" + name.replace("-", "_")
    key = {id(one): "".join(f"/{word}" for word in one.path[1:]) for one in root.all()}
    known = " | ".join(key[id(one)] for one in root.all() if one is not root) or "//"
    offers, values, files = [], [], []
    for one in root.all():
        options = one.entries["Options"]
        words = [option.names[-1] for option in options]
        words += [entry.names[0] for entry in one.entries["Subcommands"]]
        offers.append(f'    "{key[id(one)]}") offers="{" ".join(words)}" ;;')
        for option in options:
            for spelled in option.names:
                if option.choices:
                    values.append(f'    "{key[id(one)]} {spelled}") '
                                  f'offers="{" ".join(option.choices)}" ;;')
                elif option.takes_value:
                    files.append(f'"{key[id(one)]} {spelled}"')
        if any(entry.names == ["workload"] for entry in one.entries["Positionals"]):
            offers[-1] = offers[-1].replace('" ;;', ' $("$1" list 2>/dev/null)" ;;')
    if files:
        values.append("    " + " | \\\n      ".join(files) + ") return ;;")
    text = [
        f"# Completes {name}. Made from its --help.", f"{function}() {{",
        '  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}',
        '  local command="" offers="" i', "  COMPREPLY=()",
        '  if [[ $word == "=" ]]; then word=""; fi  # bash takes --option=value apart',
        '  if [[ $before == "=" ]]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi',
        "  for ((i = 1; i < COMP_CWORD; i++)); do", '    case "$command/${COMP_WORDS[i]}" in',
        f"      {known}) command+=/${{COMP_WORDS[i]}} ;;", "    esac", "  done",
        '  case "$command" in', *offers, "  esac"]
    if values:
        text += ['  case "$command $before" in', *values, "  esac"]
    text += ['  mapfile -t COMPREPLY < <(compgen -W "$offers" -- "$word")', "}",
             f"complete -o default -F {function} {name}", ""]
    return "\n".join(text)


def main(program, folder):
    root = ask(program)
    folder.mkdir(parents=True, exist_ok=True)
    section = 8 if program.name in DAEMONS else 1
    (folder / f"{program.name}.{section}").write_text(manual(root, version_of(program)))
    (folder / f"{program.name}.bash").write_text(completion(root))


if __name__ == "__main__":
    try:
        main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]))
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        sys.exit(f"pages.py: cannot write the manual of {sys.argv[1]}: {error}")
