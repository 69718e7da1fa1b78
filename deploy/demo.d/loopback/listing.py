"""S3's answers to ListObjectsV2 as its API reference describes them, and a check that an answer
keeps to that: every element that is there, its order, its type, and what depends on what."""

import datetime
import re
import urllib.parse
import xml.etree.ElementTree as ElementTree
from xml.sax.saxutils import escape

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
# Element of ListBucketResult to a pattern of its text; None: it has children.
ELEMENTS = {
    "Name": r"[a-z0-9.-]{3,63}",
    "Prefix": r".*",
    "KeyCount": r"\d{1,4}",
    "MaxKeys": r"\d{1,4}",
    "Delimiter": r".*",
    "EncodingType": r"url",
    "IsTruncated": r"true|false",
    "ContinuationToken": r".+",
    "NextContinuationToken": r".+",
    "StartAfter": r".*",
    "Contents": None,
    "CommonPrefixes": None,
}
REQUIRED = ["Name", "Prefix", "KeyCount", "MaxKeys", "IsTruncated"]
OBJECT = {
    "Key": r".+",
    "LastModified": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z",
    "ETag": r'"[0-9a-f]{32}(-\d+)?"',
    "Size": r"\d+",
    "StorageClass": r"STANDARD|INTELLIGENT_TIERING",
    "ChecksumAlgorithm": r".+",
    "Owner": r".*",
}
OBJECT_REQUIRED = ["Key", "LastModified", "ETag", "Size", "StorageClass"]
PARAMETERS = {
    "list-type",
    "prefix",
    "continuation-token",
    "delimiter",
    "encoding-type",
    "fetch-owner",
    "max-keys",
    "start-after",
}


def request_problems(query):
    """What is wrong with a request's parameters, as S3 would see it."""
    found = [f"ListObjectsV2 has no parameter {name!r}" for name in query if name not in PARAMETERS]
    if query.get("list-type") != "2":
        found.append(f"list-type is {query.get('list-type')!r}, not '2'")
    return found


def page(bucket, objects, prefix, token, size):
    """One page of the keys below `prefix`, as XML. `objects`: key to (bytes, etag). The token is
    opaque."""
    keys = sorted((key for key in objects if key.startswith(prefix)), key=str.encode)
    start = int(token.rpartition("-")[2]) if token else 0
    chosen, more = keys[start : start + size], len(keys) > start + size
    text = f"<Name>{bucket}</Name><Prefix>{escape(prefix)}</Prefix>"
    if token:
        text += f"<ContinuationToken>{escape(token)}</ContinuationToken>"
    if more:
        following = f"1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J+wm36Hy4vbOwM=-{start + size}"
        text += f"<NextContinuationToken>{following}</NextContinuationToken>"
    text += f"<KeyCount>{len(chosen)}</KeyCount><MaxKeys>{size}</MaxKeys>"
    text += f"<IsTruncated>{str(more).lower()}</IsTruncated>"
    stamp = datetime.datetime(2026, 8, 20, 8, 0, 0).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    for key in chosen:
        length, etag = objects[key]
        quoted = escape(etag, {'"': "&quot;"})
        text += (
            f"<Contents><Key>{escape(key)}</Key><LastModified>{stamp}</LastModified>"
            f"<ETag>{quoted}</ETag><Size>{length}</Size>"
            "<StorageClass>STANDARD</StorageClass></Contents>"
        )
    return f'{DECLARATION}<ListBucketResult xmlns="{NAMESPACE}">{text}</ListBucketResult>'


def error(code, message, resource):
    return (
        f"{DECLARATION}<Error><Code>{code}</Code><Message>{message}</Message>"
        f"<Resource>{escape(resource)}</Resource><RequestId>4442587FB7D0A2F9</RequestId></Error>"
    )


def _fields(element, allowed, required, where):
    found, values = [], {}
    for child in element:
        name = child.tag.removeprefix(f"{{{NAMESPACE}}}")
        if name not in allowed:
            found.append(f"{where} has no element {name}")
        elif allowed[name] is not None and not re.fullmatch(allowed[name], child.text or ""):
            found.append(f"{where}: {name} is {child.text!r}")
        if name in values and name not in ("Contents", "CommonPrefixes"):
            found.append(f"{where} has {name} twice")
        values.setdefault(name, child.text or "")
    return found + [f"{where} lacks {name}" for name in required if name not in values], values


def answer_problems(text, query):
    """What is wrong with a ListBucketResult that answers `query`."""
    root = ElementTree.fromstring(text)
    if root.tag != f"{{{NAMESPACE}}}ListBucketResult":
        return [f"the root is {root.tag}"]
    found, values = _fields(root, ELEMENTS, REQUIRED, "ListBucketResult")
    objects = root.findall(f"{{{NAMESPACE}}}Contents")
    for entry in objects:
        found += _fields(entry, OBJECT, OBJECT_REQUIRED, "Contents")[0]
    keys = [entry.findtext(f"{{{NAMESPACE}}}Key") for entry in objects]
    if keys != sorted(keys, key=str.encode):
        found.append("the keys are not in order")
    if values.get("KeyCount") != str(len(keys)):
        found.append("KeyCount is not the number of keys")
    if (values.get("IsTruncated") == "true") != ("NextContinuationToken" in values):
        found.append("NextContinuationToken does not agree with IsTruncated")
    if values.get("Prefix") != query.get("prefix", "") or values.get(
        "ContinuationToken"
    ) != query.get("continuation-token"):
        found.append("Prefix or ContinuationToken are not those of the request")
    return found


def key_of(path):
    """The key that a request's path names; S3 decodes '+' in a path as a space."""
    return urllib.parse.unquote(path.lstrip("/").replace("+", " "))
