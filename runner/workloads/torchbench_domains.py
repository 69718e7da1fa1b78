"""Writes torchbench_domains.json again from a checkout: `torchbench_domains.py CHECKOUT`. It has
each model's domain, from the `task` that TorchBench's own class declares or inherits. A model
without a task is left out: its domain is unknown. Nothing in the checkout is run."""

import ast
import json
import pathlib
import sys

TABLE = pathlib.Path(__file__).with_suffix(".json")
# torchbenchmark/tasks.py's classes, in Nightjar's words.
DOMAINS = {
    "COMPUTER_VISION": "vision", "NLP": "language", "SPEECH": "speech",
    "RECOMMENDATION": "recommendation", "REINFORCEMENT_LEARNING": "reinforcement learning",
    "GNN": "graphs", "OTHER": "other"}


def task_in(line):
    """`NLP` of `task = NLP.TRANSLATION`, else None."""
    if (isinstance(line, ast.Assign) and [ast.unparse(one) for one in line.targets] == ["task"]
            and isinstance(line.value, ast.Attribute) and isinstance(line.value.value, ast.Name)):
        return line.value.value.id
    return None


def classes_in(file):
    """(name, names of its bases, domain of its own task or None) of each class."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            tasks = [task_in(line) for line in node.body if task_in(line)]
            bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
            yield node.name, bases, DOMAINS.get(tasks[-1]) if tasks else None


def domains_of(checkout):
    """The domain of each model that declares one. A base may be a class of the framework, or one of
    the model's own file."""
    folder = checkout / "torchbenchmark"
    framework = {name: domain for file in sorted(folder.glob("util/framework/**/*.py"))
                 for name, _, domain in classes_in(file)}
    found = {}
    for file in sorted(folder.glob("*models/*/__init__.py")):
        own = {name: (bases, domain) for name, bases, domain in classes_in(file)}
        name, domain = "Model", None
        while name in own and domain is None:
            bases, domain = own[name]
            name = bases[0] if bases else ""
        domain = domain or framework.get(name)
        if domain:
            found[file.parent.name] = domain
    return found


def main():
    if len(sys.argv) != 2 or not (pathlib.Path(sys.argv[1]) / "torchbenchmark" / "models").is_dir():
        print("torchbench_domains.py takes a checkout of TorchBench", file=sys.stderr)
        return 2
    found = domains_of(pathlib.Path(sys.argv[1]))
    table = {domain: sorted(f"torchbench/{model}" for model in found if found[model] == domain)
             for domain in DOMAINS.values()}
    TABLE.write_text(json.dumps({"domains": table}, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
