"""The double's memory: one repository's issues, comments and labels, and the objects that GitHub
would answer for them."""

import datetime
import re

BODY_LIMIT = 65536


def _now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Refusal(Exception):
    """An answer that is no success: status and body."""

    def __init__(self, status, message, errors=None):
        super().__init__(message)
        self.status = status
        self.body = {"message": message, "documentation_url": "https://docs.github.com/rest",
                     "status": str(status)}
        if errors:
            self.body["errors"] = errors


def _user(base, login):
    url = f"{base}/users/{login}"
    links = [
        "followers", "following", "gists", "starred", "subscriptions", "organizations", "repos",
        "events", "received_events"]
    return {
        "login": login, "id": 1 + sum(login.encode()), "node_id": "U_" + login, "gravatar_id": "",
        "avatar_url": "https://avatars.githubusercontent.com/u/1", "url": url,
        "html_url": f"https://github.com/{login}", "type": "Bot", "site_admin": False,
        **{f"{name}_url": f"{url}/{name}"
           for name in links}}


class Repository:
    def __init__(self, base, name):
        self.base = base
        self.name = name
        self.issues = {}
        self.labels = {}
        # A token without push access: labels of new issues are silently dropped.
        self.drops_labels = False
        # Search has not seen issues filed since then.
        self.search_lags = False
        self._searchable = set()
        self._next = 1

    def add(self, title, body, labels, login="nightjar-bot", state="open", pull_request=False):
        if len(body or "") > BODY_LIMIT:
            raise Refusal(422, "Validation Failed", [
                {"resource": "Issue", "code": "custom", "field": "body",
                 "message": f"body is too long (maximum is {BODY_LIMIT} characters)"}])
        if not str(title).strip():
            raise Refusal(422, "Validation Failed",
                          [{"resource": "Issue", "code": "missing_field", "field": "title"}])
        number, self._next = self._next, self._next + 1
        names = [] if self.drops_labels else [
            l if isinstance(l, str) else l["name"] for l in labels]
        for name in names:
            self.labels.setdefault(name, 100 + len(self.labels))
        now = _now()
        self.issues[number] = {
            "number": number, "title": str(title), "body": body, "labels": names, "login": login,
            "state": state, "state_reason": "completed" if state == "closed" else None,
            "pull_request": pull_request, "created_at": now, "updated_at": now,
            "closed_at": now if state == "closed" else None, "comments": []}
        if not self.search_lags:
            self._searchable.add(number)
        return self.issues[number]

    def require(self, number):
        if int(number) not in self.issues:
            raise Refusal(404, "Not Found")
        return self.issues[int(number)]

    def comment(self, number, body):
        issue = self.require(number)
        if not body.strip() or len(body) > BODY_LIMIT:
            raise Refusal(422, "Validation Failed",
                          [{"resource": "IssueComment", "code": "custom", "field": "body",
                            "message": "body is empty or too long"}])
        now = _now()
        comment = {"id": number * 1000 + len(issue["comments"]), "body": body, "created_at": now}
        issue["comments"].append(comment)
        issue["updated_at"] = now
        return comment

    def edit_comment(self, comment_id, body):
        for issue in self.issues.values():
            for comment in issue["comments"]:
                if comment["id"] == comment_id:
                    comment["body"] = body
                    return issue, comment
        raise Refusal(404, "Not Found")

    def update(self, number, change):
        issue = self.require(number)
        for name in ("title", "body", "state", "state_reason"):
            if name in change:
                issue[name] = change[name]
        issue["updated_at"] = _now()
        issue["closed_at"] = issue["updated_at"] if issue["state"] == "closed" else None
        if issue["state"] == "open":
            issue["state_reason"] = None
        return issue

    def listed(self, query):
        """All issues that the query's filters let through, in its order."""
        state = query.get("state", "open")
        wanted = [name for name in query.get("labels", "").split(",") if name]
        found = [issue for issue in self.issues.values()
                 if state in ("all", issue["state"]) and all(l in issue["labels"] for l in wanted)
                 and issue["updated_at"] >= query.get("since", "")]
        key = {"updated": "updated_at", "created": "number"}.get(query.get("sort", "created"),
                                                                 "number")
        found.sort(key=lambda issue: issue[key], reverse=query.get("direction", "desc") == "desc")
        return found

    def searched(self, text):
        """Issues that a search for `text` finds: repo:, is:, in: and quoted phrases."""
        phrases = re.findall(r'"([^"]*)"', text)
        words = re.sub(r'"[^"]*"', "", text).split()
        if f"repo:{self.name}" not in words or not {"is:issue", "is:pull-request"} & set(words):
            raise Refusal(422, "Validation Failed",
                          [{"resource": "Search", "field": "q", "code": "invalid"}])
        phrases += [word for word in words if ":" not in word]
        return [issue for number, issue in sorted(self.issues.items())
                if number in self._searchable
                and issue["pull_request"] != ("is:issue" in words)
                and all(phrase.lower() in (issue["body"] or "").lower() for phrase in phrases)]

    def issue_json(self, issue):
        api = f"{self.base}/repos/{self.name}"
        url = f"{api}/issues/{issue['number']}"
        html = f"https://github.com/{self.name}/issues/{issue['number']}"
        described = {
            "id": 10_000 + issue["number"], "node_id": f"I_{issue['number']}", "url": url,
            "repository_url": api, "labels_url": url + "/labels{/name}", "html_url": html,
            "comments_url": url + "/comments", "events_url": url + "/events",
            "number": issue["number"], "state": issue["state"], "title": issue["title"],
            "body": issue["body"], "user": _user(self.base, issue["login"]),
            "labels": [self.label_json(name) for name in issue["labels"]
                       ], "assignee": None, "assignees": [], "milestone": None, "locked": False,
            "active_lock_reason": None, "comments": len(issue["comments"]),
            "closed_at": issue["closed_at"], "created_at": issue["created_at"],
            "updated_at": issue["updated_at"], "closed_by": None, "author_association": "NONE"}
        if issue["state_reason"]:  # GitHub says null, which its own description does not allow
            described["state_reason"] = issue["state_reason"]
        if issue["pull_request"]:
            pull = f"https://github.com/{self.name}/pull/{issue['number']}"
            described["pull_request"] = {"url": f"{api}/pulls/{issue['number']}", "html_url": pull,
                                         "diff_url": pull + ".diff", "patch_url": pull + ".patch"}
        return described

    def label_json(self, name):
        number = self.labels[name]
        return {"id": number, "node_id": f"L_{number}", "name": name, "color": "ededed",
                "url": f"{self.base}/repos/{self.name}/labels/{name}", "default": False,
                "description": None}

    def comment_json(self, issue, comment):
        url = f"{self.base}/repos/{self.name}/issues"
        html = f"https://github.com/{self.name}/issues/{issue['number']}"
        return {"id": comment["id"], "node_id": f"IC_{comment['id']}", "body": comment["body"],
                "url": f"{url}/comments/{comment['id']}", "issue_url": f"{url}/{issue['number']}",
                "html_url": f"{html}#issuecomment-{comment['id']}",
                "user": _user(self.base, "nightjar-bot"), "created_at": comment["created_at"],
                "updated_at": comment["created_at"], "author_association": "NONE"}
