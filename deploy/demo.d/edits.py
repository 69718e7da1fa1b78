"""Edits to Python source that change nothing that can be measured: each takes a random source and a
text, and returns the new text and what it did, or None where it does not apply."""

import ast
import re

COMMENTS = [
    "Keep the order: callers rely on it.", "Shapes are checked by the caller.",
    "The common case first.", "Subclasses may override this.", "Nothing to do for empty input.",
    "See the note at the top of this file.", "Kept apart so that it can be tested alone.",
    "No copy is made here.", "Works for meta tensors too.", "This must stay scriptable.",
]
SENTENCES = [
    "The result does not depend on the order of calls.", "This is safe to call more than once.",
    "Arguments are not modified.", "Part of the private interface; it may change.",
    "The caller keeps ownership of its arguments.",
]
SPELLINGS = {
    "ret": "result", "res": "result", "idx": "index", "msg": "message", "val": "value",
    "cfg": "config", "tmp": "scratch", "num": "count", "buf": "buffer", "cur": "current",
    "prev": "previous", "fn_name": "function_name", "param_str": "parameters", "ndim": "dimensions",
    "numel": "elements", "attr": "attribute", "pos": "position", "cnt": "count", "sz": "size",
    "dst": "target", "err": "error", "opt": "option", "dim_size": "extent",
    "new_shape": "target_shape", }


def _functions(text):
    return [node for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.FunctionDef) and node.body[-1].lineno > node.lineno]


def _docstring(function):
    first = function.body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return first if is_text and isinstance(first.value.value, str) else None


def comment(random, text):
    """Adds a comment above the first statement of a function."""
    functions = [f for f in _functions(text)
                 if not _docstring(f) and f.body[0].lineno > f.lineno
                 and not getattr(f.body[0], "decorator_list", None)]
    if not functions:
        return None
    function = random.choice(functions)
    lines = text.split("\n")
    at = function.body[0].lineno - 1
    if lines[at][:function.body[0].col_offset].strip():
        return None
    lines.insert(at, " " * function.body[0].col_offset + "# " + random.choice(COMMENTS))
    return "\n".join(lines), f"Comment on {function.name}"


def docstring(random, text):
    """Adds a sentence at the end of a docstring."""
    lines = text.split("\n")
    functions = [f for f in _functions(text)
                 if (d := _docstring(f)) and d.end_lineno > d.lineno
                 and lines[d.end_lineno - 1].strip() == '"""']
    if not functions:
        return None
    function = random.choice(functions)
    end = _docstring(function).end_lineno - 1
    indent = lines[end][:-3]
    lines[end:end] = ["", indent + random.choice(SENTENCES)]
    return "\n".join(lines), f"Document {function.name}"


def annotation(random, text):
    """Adds `-> None` to an __init__ that lacks it."""
    found = [m for m in re.finditer(r"^( +def __init__\([^()\n]*\)):$", text, re.M)]
    if not found:
        return None
    match = random.choice(found)
    return text[:match.end(1)] + " -> None" + text[match.end(1):], "Annotate __init__"


def modernise(random, text):
    """Replaces an old idiom by its shorter form."""
    forms = [(r"(?m)^(\s+\w+) = dict\(\)$", r"\1 = {}", "Write {} for dict()"),
             (r"(?m)^(\s+\w+) = list\(\)$", r"\1 = []", "Write [] for list()"),
             (r"(?m)\bin range\(0, (\w+)\):$", r"in range(\1):", "Drop range's default start"),
             (r"(?m)^class (\w+)\(object\):$", r"class \1:", "Drop the explicit object base"),
             (r"(?m)^(\s+)super\((?!type)[A-Z]\w*, self\)\.__init__\(", r"\1super().__init__(",
              "Use super() without arguments")]
    random.shuffle(forms)
    for pattern, replacement, what in forms:
        new, count = re.subn(pattern, replacement, text, count=1)
        if count:
            return new, what
    return None


def _renamable(function, taken):
    """The local names in SPELLINGS that this function may spell out."""
    scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.GeneratorExp,
              ast.ListComp, ast.SetComp, ast.DictComp, ast.JoinedStr, ast.Global, ast.Nonlocal,
              ast.Import, ast.ImportFrom, ast.ExceptHandler, ast.Match)
    nodes = [node for node in ast.walk(function) if node is not function]
    if function.decorator_list or any(isinstance(node, scopes) for node in nodes):
        return []
    names = [node for node in nodes if isinstance(node, ast.Name)]
    used = {node.id for node in names} | {node.arg for node in nodes if isinstance(node, ast.arg)}
    if used & {"locals", "eval", "exec", "vars"}:
        return []
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
    return [old for old in sorted(stored - arguments)
            if old in SPELLINGS and SPELLINGS[old] not in used | taken]


def rename(random, text):
    """Spells out a local variable."""
    tree = ast.parse(text)
    taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)
             and isinstance(node.ctx, ast.Store) and node.col_offset == 0}
    choices = [(f, old) for f in _functions(text) for old in _renamable(f, taken)]
    if not choices or not text.isascii():
        return None
    function, old = random.choice(choices)
    lines = text.split("\n")
    places = {(n.lineno - 1, n.col_offset) for n in ast.walk(function)
              if isinstance(n, ast.Name) and n.id == old}
    for line, column in sorted(places, reverse=True):
        lines[line] = lines[line][:column] + SPELLINGS[old] + lines[line][column + len(old):]
    return "\n".join(lines), f"Spell out {old} in {function.name}"


KINDS = {"comment": comment, "docstring": docstring, "annotation": annotation,
         "modernise": modernise, "rename": rename}


def apply(kind, random, text):
    """Applies KINDS[kind] to text. None also if the text is of a later Python than this one, or if
    the result would not compile."""
    try:
        edited = KINDS[kind](random, text)
        if edited is not None:
            compile(edited[0], "edited", "exec", dont_inherit=True)
    except SyntaxError:
        return None
    return edited
