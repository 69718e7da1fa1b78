"""GitHub's own description of its REST API, as far as the double speaks it: what a request and an
answer must look like. Everything that is wrong comes back as a list of sentences."""

import json
import re
import urllib.parse

from openapi_schema_validator import OAS30ReadValidator, OAS30WriteValidator, oas30_format_checker

PATHS = [
    "/repos/{owner}/{repo}/issues",
    "/repos/{owner}/{repo}/issues/{issue_number}",
    "/repos/{owner}/{repo}/issues/{issue_number}/comments",
    "/repos/{owner}/{repo}/issues/comments/{comment_id}",
    "/search/issues",
]
# What stands between GitHub and its clients answers these; the description does not list them.
UNDESCRIBED = {401, 429, 502}


def _for_requests(schema):
    return OAS30WriteValidator(schema, format_checker=oas30_format_checker)


def _for_answers(schema):
    return OAS30ReadValidator(schema, format_checker=oas30_format_checker)


def _problems(validator, value, where):
    return [
        f"{where}{''.join(f'[{step!r}]' for step in error.absolute_path)}: {error.message[:300]}"
        for error in validator.iter_errors(value)]


def _converted(text, schema):
    if schema.get("type") == "integer" and re.fullmatch(r"-?\d+", text):
        return int(text)
    if schema.get("type") == "boolean" and text in ("true", "false"):
        return text == "true"
    return text


class Operation:
    """One method of one path."""

    def __init__(self, template, method, described):
        self.name = described["operationId"]
        self.method = method
        names = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", template)
        self.pattern = re.compile(names + "$")
        self.parameters = {(p["in"], p["name"]): p for p in described.get("parameters", [])}
        self.body_required = described.get("requestBody", {}).get("required", False)
        self.body_schema = (described.get("requestBody", {}).get("content", {})
                            .get("application/json", {}).get("schema"))
        self.answers = {
            int(status): answer.get("content", {}).get("application/json", {}).get("schema")
            for status, answer in described["responses"].items()}

    def request_problems(self, arguments, query, body):
        found = []
        given = [("path", *pair) for pair in arguments.items()] + [
            ("query", *pair) for pair in query]
        for place, name, text in given:
            parameter = self.parameters.get((place, name))
            if parameter is None:
                found.append(f"{self.name}: there is no {place} parameter {name!r}")
                continue
            found += _problems(_for_requests(parameter["schema"]),
                               _converted(text, parameter["schema"]), f"{self.name} {name}")
        for (place, name), parameter in self.parameters.items():
            if parameter.get("required") and (place, name) not in {(p, n) for p, n, _ in given}:
                found.append(f"{self.name}: the {place} parameter {name!r} is missing")
        for name, text in query:
            if name == "per_page" and text.isdigit() and not 1 <= int(text) <= 100:
                found.append(f"{self.name}: per_page is at most 100, not {text}")
        return found + self._body_problems(body)

    def _body_problems(self, body):
        if self.body_schema is None:
            return [f"{self.name}: takes no body"] if body else []
        if not body:
            return [f"{self.name}: the body is missing"] if self.body_required else []
        try:
            value = json.loads(body)
        except ValueError as error:
            return [f"{self.name}: the body is not JSON: {error}"]
        found = _problems(_for_requests(self.body_schema), value, f"{self.name} body")
        if isinstance(value, dict):
            found += [f"{self.name} body: there is no property {name!r}"
                      for name in value if name not in self.body_schema["properties"]]
        return found

    def answer_problems(self, status, value):
        if status in UNDESCRIBED:
            return []
        if status not in self.answers:
            return [f"the double: {self.name} never answers {status}"]
        if self.answers[status] is None:
            return []
        return _problems(_for_answers(self.answers[status]), value,
                         f"the double: {self.name} {status}")


class Description:
    def __init__(self, path, paths=PATHS):
        with open(path, encoding="utf-8") as file:
            described = json.load(file)["paths"]
        self.operations = [Operation(template, method.upper(), operation)
                           for template in paths
                           for method, operation in described[template].items()]

    def find(self, method, path):
        """The operation and the path's arguments; (None, {}) where the double knows none."""
        for operation in self.operations:
            match = operation.pattern.match(path)
            if match and operation.method == method:
                return operation, {k: urllib.parse.unquote(v) for k, v in match.groupdict().items()}
        return None, {}
