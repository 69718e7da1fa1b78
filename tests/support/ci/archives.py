"""Archives as CI uploads them, artifacts.zip with a wheel in dist/, and ones wrong on purpose."""

import base64
import hashlib
import io
import random
import struct
import zipfile

DATE = (2026, 8, 20, 0, 0, 0)


def _record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def make_wheel(recipe):
    """Name and bytes of a wheel whose parts agree unless told otherwise: {"version", "git_version",
    "python_tag"?, "platform_tag"?, "package"?, "cuda"?, "payload_bytes"?, "files"?}."""
    version, package = recipe["version"], recipe.get("package", "torch")
    python = recipe.get("python_tag", "cp311")
    tag = f"{python}-{python}-{recipe.get('platform_tag', 'linux_x86_64')}"
    files = {name: text.encode() for name, text in recipe.get("files", {}).items()}
    files.setdefault("torch/__init__.py", b"from .version import __version__\n")
    files["torch/version.py"] = (
        f"__version__ = '{version}'\ndebug = False\ncuda = {recipe.get('cuda')!r}\n"
        f"git_version = '{recipe['git_version']}'\nhip = None\n"
    ).encode()
    if recipe.get("payload_bytes"):
        files["torch/lib/libtorch.bin"] = random.Random(7).randbytes(recipe["payload_bytes"])
    info = f"{package}-{version}.dist-info"
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n".encode()
    )
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    )
    record = "".join(_record_line(name, data) for name, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, DATE), data, zipfile.ZIP_DEFLATED)
    return f"{package}-{version}-{tag}.whl", out.getvalue()


def _write_zeros(archive, name, count):
    block = bytes(1 << 20)
    with archive.open(zipfile.ZipInfo(name, DATE), "w", force_zip64=True) as member:
        for _ in range(count >> 20):
            member.write(block)


def write(path, members, flaw=None):
    """Writes an archive. A member is {"wheel": recipe, "stored"?} or {"name", "text"} or {"name",
    "zeros": bytes, "deflated"?}. Flaws: "crc" (a byte of the last member is another), "bomb" (the
    last member declares 1000 bytes and unpacks to all of its own), "truncated" (the second half is
    missing), "zip64" (no flaw: the directory is written in that form), "encrypted", "no_zip"."""
    with zipfile.ZipFile(path, "w") as archive:
        for member in members:
            if "wheel" in member:
                name, data = make_wheel(member["wheel"])
                info = zipfile.ZipInfo("dist/" + name, DATE)
                archive.writestr(
                    info, data, zipfile.ZIP_STORED if member.get("stored") else zipfile.ZIP_DEFLATED
                )
            elif "zeros" in member and not member.get("deflated"):
                _write_zeros(archive, member["name"], member["zeros"])
            else:
                data = bytes(member["zeros"]) if "zeros" in member else member["text"].encode()
                archive.writestr(zipfile.ZipInfo(member["name"], DATE), data, zipfile.ZIP_DEFLATED)
        last = archive.infolist()[-1]
    if flaw == "no_zip":
        path.write_bytes(b"<html>Not Found</html>" * 100)
    elif flaw == "zip64":
        path.write_bytes(as_zip64(path.read_bytes()))
    elif flaw == "truncated":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    elif flaw:
        _patch(path, last, flaw)


def _patch(path, last, flaw):
    data = bytearray(path.read_bytes())
    entry = data.rindex(b"PK\x01\x02")
    if flaw == "crc":
        data[entry + 16] ^= 1
    elif flaw == "bomb":
        struct.pack_into("<I", data, entry + 24, 1000)
    elif flaw == "encrypted":
        data[entry + 8] |= 1
    else:
        raise ValueError(flaw)
    path.write_bytes(data)


def as_zip64(data):
    """The same archive with sizes, offset and directory in zip64's form, as one of more than 4 GiB
    has them."""
    end = data.rindex(b"PK\x05\x06")
    count, size, start = struct.unpack_from("<H 2I", data, end + 10)
    directory, at = b"", start
    for _ in range(count):
        entry = bytearray(data[at : at + 46])
        name, extra, comment = struct.unpack_from("<3H", entry, 28)
        packed, unpacked = struct.unpack_from("<II", entry, 20)
        (offset,) = struct.unpack_from("<I", entry, 42)
        field = struct.pack("<2H 3Q", 1, 24, unpacked, packed, offset)
        struct.pack_into("<II", entry, 20, 0xFFFFFFFF, 0xFFFFFFFF)
        struct.pack_into("<I", entry, 42, 0xFFFFFFFF)
        struct.pack_into("<HH", entry, 30, len(field), 0)
        directory += bytes(entry) + data[at + 46 : at + 46 + name] + field
        at += 46 + name + extra + comment
    record = struct.pack(
        "<I Q 2H 2I 4Q", 0x06064B50, 44, 45, 45, 0, 0, count, count, len(directory), start
    )
    locator = struct.pack("<2I Q I", 0x07064B50, 0, start + len(directory), 1)
    old_end = struct.pack(
        "<I 4H 2I H", 0x06054B50, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0
    )
    return data[:start] + directory + record + locator + old_end
