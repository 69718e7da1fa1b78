"""Reads an image file in OCI's layout, and says by which schemas its parts are valid: the members
of OCI's image specification, release 1.0, that deploy/images writes."""

import functools
import hashlib
import json
import tarfile

DIGEST = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
WORDS = {"type": "array", "items": {"type": "string"}}
TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"}
PREFIX = "application/vnd.oci.image."


def record(required, **optional):
    """An object that has these members and no others."""
    return {"type": "object", "additionalProperties": False, "required": list(required),
            "properties": required | optional}


def descriptor(kind):
    return record({"mediaType": {"const": PREFIX + kind}, "digest": DIGEST,
                   "size": {"type": "integer", "minimum": 1}}, annotations=TEXTS)


def list_of(schema):
    return {"type": "array", "minItems": 1, "items": schema}


MARKS = {"type": "object", "additionalProperties": {"const": {}}}  # volumes and ports
SCHEMAS = {
    "layout": record({"imageLayoutVersion": {"const": "1.0.0"}}),
    "index": record({
        "schemaVersion": {"const": 2}, "mediaType": {"const": PREFIX + "index.v1+json"},
        "manifests": list_of(descriptor("manifest.v1+json"))}),
    "manifest": record({
        "schemaVersion": {"const": 2}, "mediaType": {"const": PREFIX + "manifest.v1+json"},
        "config": descriptor("config.v1+json"),
        "layers": list_of(descriptor("layer.v1.tar+gzip"))}, annotations=TEXTS),
    "config": record({
        "created": TIME, "architecture": {"enum": ["amd64", "arm64"]}, "os": {"const": "linux"},
        "config": record(
            {"User": {"type": "string", "pattern": "^[1-9][0-9]*:[1-9][0-9]*$"}},
            Env={"type": "array", "items": {"type": "string", "pattern": "^[A-Z_]+=."}},
            Entrypoint=WORDS, Cmd=WORDS, WorkingDir={"type": "string", "pattern": "^/"},
            Volumes=MARKS, ExposedPorts=MARKS, StopSignal={"type": "string", "pattern": "^SIG"},
            Labels=TEXTS,
            # Kept free by the specification for Docker.
            Healthcheck=record({"Test": WORDS}, **{name: {"type": "integer"} for name in (
                "Interval", "Timeout", "StartPeriod", "Retries")})),
        "rootfs": record({"type": {"const": "layers"}, "diff_ids": list_of(DIGEST)}),
        "history": list_of(record({"created": TIME, "created_by": {"type": "string"}}))}),
}


class ImageFile:
    """One image for one architecture."""

    def __init__(self, path):
        self.path = path

    def _read(self, name):
        with tarfile.open(self.path) as tar:
            return tar.extractfile(name).read()

    @staticmethod
    def _blob(descriptor_of_it):
        return f"blobs/{descriptor_of_it['digest'].replace(':', '/')}"

    @functools.cache
    def part(self, kind):
        """The JSON of a key of SCHEMAS."""
        if kind in ("layout", "index"):
            return json.loads(self._read({"layout": "oci-layout"}.get(kind, "index.json")))
        if kind == "manifest":
            return json.loads(self._read(self._blob(self.part("index")["manifests"][0])))
        return json.loads(self._read(self._blob(self.part("manifest")["config"])))

    def layer(self):
        """The gzipped tar."""
        (layer, ) = self.part("manifest")["layers"]
        return self._read(self._blob(layer))

    def files(self):
        """What a file of the layer is, by its name: its attributes and the hash of its bytes."""
        (layer, ) = self.part("manifest")["layers"]
        held = {}
        with tarfile.open(self.path) as tar, \
                tarfile.open(fileobj=tar.extractfile(self._blob(layer)), mode="r|gz") as files:
            for member in files:
                digest = member.isreg() and hashlib.file_digest(files.extractfile(member), "sha256")
                held[member.name] = (member.get_info(), digest and digest.hexdigest())
        return held

    def names(self):
        return [one["annotations"]["org.opencontainers.image.ref.name"]
                for one in self.part("index")["manifests"]]

    def check_digests(self):
        """Each blob is what its name and its descriptor say, and nothing else is in the file."""
        manifest = self.part("manifest")
        described = {self._blob(one): one["size"] for one in (
            *self.part("index")["manifests"], manifest["config"], *manifest["layers"])}
        with tarfile.open(self.path) as tar:
            held = {member.name: member.size for member in tar}
            assert held.keys() - {"oci-layout", "index.json"} == described.keys()
            for name, size in described.items():
                digest = hashlib.file_digest(tar.extractfile(name), "sha256").hexdigest()
                assert (held[name], name) == (size, f"blobs/sha256/{digest}")


def differences(one, other):
    """Names of the files that are not the same in two image files. If all are, "" stands for a
    difference outside the layer."""
    with open(one, "rb") as first, open(other, "rb") as second:
        if hashlib.file_digest(first, "sha256").digest() == \
                hashlib.file_digest(second, "sha256").digest():
            return []
    first, second = ImageFile(one).files(), ImageFile(other).files()
    return sorted(name for name in first.keys() | second.keys()
                  if first.get(name) != second.get(name)) or [""]
