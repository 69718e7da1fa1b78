"""Reads Nightjar's REST interface, as any script could."""

import json
import urllib.error
import urllib.parse
import urllib.request


class Unreachable(Exception):
    """The service gave no answer, or an unexpected one."""


class Service:
    def __init__(self, address):
        self.address = address
        self.untestable = {}  # by search and number: it is read again only when there are more

    def get(self, path, **query):
        url = self.address + path + ("?" + urllib.parse.urlencode(query) if query else "")
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)
        except (urllib.error.URLError, OSError, ValueError) as error:
            raise Unreachable(f"GET {url}: {error}") from error

    def items(self, path, **query):
        """All items of a list, page after page."""
        found, cursor = [], None
        while True:
            page = self.get(path, limit=200, **query, **({"cursor": cursor} if cursor else {}))
            found += page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return found

    def untestable_of(self, search):
        """The commits of a search that cannot be measured, with the reasons."""
        key = search["id"], search["untestable_commits"]
        if search["untestable_commits"] and key not in self.untestable:
            commits = self.get(f"/api/v1/bisections/{search['id']}")["commits"]
            self.untestable[key] = [commit for commit in commits if commit["untestable"]]
        return self.untestable.get(key, [])

    def snapshot(self):
        """The state that the watcher and the summary use. Dismissed regressions have their changes
        of state, searches their commits that cannot be measured."""
        found = {name: self.items(f"/api/v1/{name}")
                 for name in ("builds", "lookups", "nights", "jobs", "regressions", "bisections",
                              "reports")}
        for item in found["regressions"]:
            if item["state"] == "dismissed":
                item["changes"] = self.get(f"/api/v1/regressions/{item['id']}")["changes"]
        for item in found["bisections"]:
            item["untestable"] = self.untestable_of(item)
        return found
