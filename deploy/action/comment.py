"""One comment on a pull request: written by the first run, edited by later ones."""

import json
import os
import urllib.error
import urllib.request

PAGE = 100


def _ask(method, path, token, body=None):
    base = os.environ.get("GITHUB_API_URL", "https://api.github.com")
    request = urllib.request.Request(
        base + path, method=method, data=None if body is None else json.dumps(body).encode(),
        headers={"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28",
                 "Authorization": f"Bearer {token}", "User-Agent": "nightjar-action",
                 **({} if body is None else {"Content-Type": "application/json"})})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def _ours(comments, number, mark, token):
    """The comment that begins with `mark`, or None."""
    page = 1
    while True:
        found = _ask("GET", f"{comments}/{number}/comments?per_page={PAGE}&page={page}", token)
        for one in found:
            if one["body"].startswith(mark):
                return one
        if len(found) < PAGE:
            return None
        page += 1


def put(number, name, text, token):
    """Writes `text` as the comment called `name`. A token that may not, as that of a fork's pull
    request, is no failure: the summary has the text all the same."""
    comments = f"/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    mark = f"<!-- nightjar: {name.replace('--', '')} -->\n"
    try:
        old = _ours(comments, number, mark, token)
        if old is None:
            _ask("POST", f"{comments}/{number}/comments", token, {"body": mark + text})
        else:
            _ask("PATCH", f"{comments}/comments/{old['id']}", token, {"body": mark + text})
    except (urllib.error.URLError, OSError, ValueError) as problem:
        print(f"::warning::cannot comment on pull request {number}: {problem}")
