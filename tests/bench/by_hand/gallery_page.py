"""gallery_page.py FOLDER: writes what gallery.py found there into docs/gallery.md."""

import pathlib
import re
import statistics
import sys

import gallery


PAGE = gallery.ROOT / "docs/gallery.md"


def spread(values):
    if len(values) == 1:
        return f"{values[0]:.0f}"
    return f"{statistics.median(values):.0f} ({min(values):.0f} to {max(values):.0f})"


def milliseconds(value):
    return f"{value:.3g}"


def table(head, right, rows):
    """The columns whose numbers are in `right` hold numbers."""
    rules = "|".join("---:" if number in right else "---" for number in range(len(head)))
    return [f"| {' | '.join(head)} |", f"|{rules}|", *(f"| {' | '.join(row)} |" for row in rows)]


def cases(results):
    rows = []
    for case in gallery.CASES:
        levels = gallery.levels_of(results, case["name"])
        if levels is None:
            continue
        link = f"https://github.com/{case['repository']}/issues/{case['issue']}"
        steps = [f"{milliseconds(levels[name + '^'])} to {milliseconds(levels[name])}"
                 for name in case["culprits"]]
        rows.append([f"{case['name']} [#{case['issue']}]({link})", case["language"], case["what"],
                     ", ".join(f"`{name}`" for name in case["culprits"]), ", ".join(steps)])
    return table(["case", "language", "what got slower", "culprit", "CPU milliseconds"], (),
                 rows)


def commands():
    lines = []
    for case in gallery.CASES:
        path = gallery.measure(case, f"$PWD/{gallery.file_name(case)}")
        lines.append(f"nightjar bisect run --repo {case['repository'].split('/')[1]} --good "
                     f"{case['good']} --bad {case['bad']} --build true --measure \"{path}\"")
    return ["<!-- not run: needs the clones, and searches for minutes -->", "```sh", *lines, "```"]


def searches(results):
    rows = []
    for case in gallery.CASES:
        mine = [one for one in results if one["case"] == case["name"]]
        for way, count in gallery.WAYS.items():
            found = [one for one in mine if one.get("way") == way]
            if not found:
                continue
            rows.append([
                case["name"], str(next(one["range"] for one in mine if "range" in one)),
                f"`git bisect run` ×{count}" if count else "nightjar",
                f"{sum(one['exact'] for one in found)} of {len(found)}",
                str(sum(bool(one["innocent"]) for one in found)),
                str(sum(not one["named"] for one in found)),
                *(spread([one[what] for one in found]) for what in ("runs", "builds", "seconds"))])
    loads = [one["load"] for one in results if "load" in one]
    return [*table(["case", "commits", "searched by", "exact", "an innocent", "nobody", "runs",
                    "builds", "seconds"], (1, 3, 4, 5), rows), "",
            f"Load average meanwhile: {statistics.median(loads):.1f} ({min(loads):.1f} to "
            f"{max(loads):.1f})."]


def main():
    results = gallery.read_results(pathlib.Path(sys.argv[1]))
    text = PAGE.read_text()
    for name, lines in {"cases": cases(results), "commands": commands(),
                        "searches": searches(results)}.items():
        new = "\n".join(lines) + "\n"
        text = re.sub(rf"(<!-- figures: gallery {name} -->\n).*?(<!-- end of figures -->)",
                      lambda place, new=new: place[1] + new + place[2], text, flags=re.DOTALL)
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
