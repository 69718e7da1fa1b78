"""Writes an image file in OCI's layout from a root file system: layout.py --root TAR
--settings JSON --name NAME:VERSION --time SECONDS FILE. The same root file system gives the same
bytes. The settings are the member `config` of an image's configuration."""

import argparse
import datetime
import gzip
import hashlib
import io
import json
import pathlib
import platform
import shutil
import sys
import tarfile
import tempfile

MEDIA_TYPE = "application/vnd.oci.image."
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}  # by Go's names, as OCI has them


class Hashed:
    """A file that is written, with the SHA-256 of what went in."""

    def __init__(self, file):
        self._file, self._hash = file, hashlib.sha256()

    def write(self, data):
        self._hash.update(data)
        return self._file.write(data)

    def digest(self):
        return f"sha256:{self._hash.hexdigest()}"


def write_layer(root, target, seconds):
    """A gzipped layer without devices, which each container gets from its runtime. Returns the
    digests of what is in the gzip file and of that file itself."""
    packed = Hashed(target)
    with gzip.GzipFile("", "wb", 6, packed, mtime=0) as zipped:
        plain = Hashed(zipped)
        with tarfile.open(root) as source, \
                tarfile.open(fileobj=plain, mode="w|", format=tarfile.PAX_FORMAT) as layer:
            for member in source:
                if member.ischr() or member.isblk():
                    continue
                member.name = member.name.removeprefix("./")
                member.mtime = min(member.mtime, seconds)
                layer.addfile(member, source.extractfile(member) if member.isreg() else None)
    return plain.digest(), packed.digest()


class Layout:
    """A tar of OCI's layout, in which each blob is named by its digest."""

    def __init__(self, tar, seconds):
        self._tar, self._seconds = tar, seconds

    def add(self, name, size, file):
        member = tarfile.TarInfo(name)
        member.size, member.mtime, member.mode = size, self._seconds, 0o644
        self._tar.addfile(member, file)

    def add_blob(self, kind, size, digest, file):
        """Returns the descriptor by which another blob refers to this one."""
        self.add(f"blobs/{digest.replace(':', '/')}", size, file)
        return {"mediaType": MEDIA_TYPE + kind, "digest": digest, "size": size}

    def add_json(self, kind, value):
        data = json.dumps(value, sort_keys=True).encode()
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        return self.add_blob(kind, len(data), digest, io.BytesIO(data))


def write_image(root, settings, name, seconds, file):
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime(
        "%Y-%m-%dT%H:%M:%SZ")
    version = name.split(":")[1]
    labels = settings["Labels"] | {"org.opencontainers.image.version": version,
                                   "org.opencontainers.image.created": created}
    with tempfile.TemporaryFile(dir=file.parent) as layer, \
            tarfile.open(file, "w", format=tarfile.PAX_FORMAT) as tar:
        layout = Layout(tar, seconds)
        plain, packed = write_layer(root, layer, seconds)
        size = layer.tell()
        layer.seek(0)
        config = layout.add_json("config.v1+json", {
            "created": created,
            "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()),
            "os": "linux",
            "config": settings | {"Labels": labels},
            "rootfs": {"type": "layers", "diff_ids": [plain]},
            "history": [{"created": created, "created_by": "deploy/images"}]})
        manifest = layout.add_json("manifest.v1+json", {
            "schemaVersion": 2, "mediaType": MEDIA_TYPE + "manifest.v1+json", "config": config,
            "layers": [layout.add_blob("layer.v1.tar+gzip", size, packed, layer)],
            "annotations": labels})
        # podman reads the first name, docker the second.
        named = manifest | {"annotations": {
            "org.opencontainers.image.ref.name": name,
            "io.containerd.image.name": f"docker.io/library/{name}"}}
        for path, value in (
                ("index.json", {"schemaVersion": 2, "mediaType": MEDIA_TYPE + "index.v1+json",
                                "manifests": [named]}),
                ("oci-layout", {"imageLayoutVersion": "1.0.0"})):
            data = json.dumps(value, sort_keys=True).encode()
            layout.add(path, len(data), io.BytesIO(data))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--settings", type=pathlib.Path, required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--time", type=int, required=True)
    parser.add_argument("file", type=pathlib.Path)
    asked = parser.parse_args()
    partial = asked.file.with_suffix(".partial")
    try:
        settings = json.loads(asked.settings.read_text())
        write_image(asked.root, settings, asked.name, asked.time, partial)
        partial.replace(asked.file)
    finally:
        partial.unlink(missing_ok=True)


if __name__ == "__main__":
    try:
        main()
    except (OSError, tarfile.TarError, ValueError) as error:
        sys.exit(f"layout.py: cannot write an image: {error}")
