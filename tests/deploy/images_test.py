"""The image files of deploy/images, as far as no Debian has to be fetched for it: OCI's layout is
written from a small root file system, and what the images say fits units, pilots and documents.
tests/images makes and runs them (tests/run --images)."""

import gzip
import hashlib
import io
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tarfile

import jsonschema
import pytest
import yaml

from image_file import SCHEMAS, ImageFile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = ("service", "runner")
UNITS = {"service": "nightjard", "runner": "nightjar-runner"}
SECONDS = 1780000000
HELD = {"usr/bin/nightjard": b"program", "etc/hostname": b""}


def settings(name):
    return json.loads((ROOT / f"deploy/images.d/{name}.json").read_text())


def unit_value(name, key):
    text = (ROOT / f"deploy/systemd/{UNITS[name]}.service").read_text().replace("\\\n", " ")
    return re.search(rf"^{key}=(.*)$", text, re.MULTILINE)[1]


def pod():
    job = yaml.safe_load((ROOT / "deploy/kubernetes/pilot.yaml").read_text())
    return job["spec"]["template"]["spec"]


@pytest.fixture(scope="module")
def root_file_system(tmp_path_factory):
    path = tmp_path_factory.mktemp("root") / "root.tar"
    with tarfile.open(path, "w") as tar:
        null = tarfile.TarInfo("./dev/null")
        null.type, null.devmajor, null.devminor = tarfile.CHRTYPE, 1, 3
        tar.addfile(null)
        for name, data in HELD.items():
            member = tarfile.TarInfo(f"./{name}")
            member.size, member.mode, member.mtime = len(data), 0o755, SECONDS + 1000
            tar.addfile(member, io.BytesIO(data))
        link = tarfile.TarInfo("./bin")
        link.type, link.linkname = tarfile.SYMTYPE, "usr/bin"
        tar.addfile(link)
    return path


def write(root_file_system, file, *options):
    return subprocess.run(
        [sys.executable, ROOT / "deploy/images.d/layout.py", "--root", root_file_system,
         "--settings", ROOT / "deploy/images.d/service.json", "--name", "nightjar-service:0.1.0",
         "--time", str(SECONDS), *options, file], capture_output=True, text=True)


@pytest.fixture(scope="module")
def image(root_file_system):
    file = root_file_system.parent / "service.oci.tar"
    done = write(root_file_system, file)
    assert done.returncode == 0, done.stderr
    return ImageFile(file)


def test_the_image_file_is_one_by_the_specification(image):
    for kind, schema in SCHEMAS.items():
        jsonschema.validate(image.part(kind), schema)
    image.check_digests()
    assert image.names() == ["nightjar-service:0.1.0"]
    config = image.part("config")
    assert config["config"].items() >= {
        key: value for key, value in settings("service").items() if key != "Labels"}.items()
    assert config["created"] == "2026-05-28T20:26:40Z"
    assert config["config"]["Labels"]["org.opencontainers.image.version"] == "0.1.0"


@pytest.mark.parametrize("kind, path, value", [
    ("layout", ["imageLayoutVersion"], "2"), ("index", ["manifests"], []),
    ("manifest", ["layers", 0, "digest"], "sha256:1"), ("config", ["rootfs", "diff_ids"], [""]),
    ("config", ["config", "Env"], ["PATH"]), ("config", ["config", "Entrypoint"], "nightjard")])
def test_the_schema_tells(image, kind, path, value):
    wrong = json.loads(json.dumps(image.part(kind)))
    *way, last = path
    place = wrong
    for step in way:
        place = place[step]
    place[last] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, SCHEMAS[kind])


def test_the_layer_is_the_root_file_system_without_devices(image):
    data = image.layer()
    assert image.part("config")["rootfs"]["diff_ids"] == [
        f"sha256:{hashlib.sha256(gzip.decompress(data)).hexdigest()}"]
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        assert tar.getnames() == [*HELD, "bin"]
        assert {name: tar.extractfile(name).read() for name in HELD} == HELD
        assert tar.getmember("bin").linkname == "usr/bin"
        assert max(member.mtime for member in tar) <= SECONDS


def test_the_same_root_file_system_gives_the_same_bytes(root_file_system, image):
    again = root_file_system.parent / "again.oci.tar"
    assert write(root_file_system, again).returncode == 0
    assert again.read_bytes() == image.path.read_bytes()


def test_nothing_stays_of_an_image_that_could_not_be_written(tmp_path):
    (tmp_path / "root.tar").write_bytes(b"no tar")
    done = write(tmp_path / "root.tar", tmp_path / "broken.oci.tar")
    assert done.returncode == 1 and "cannot write an image" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["root.tar"]


@pytest.mark.parametrize("name", NAMES)
def test_an_image_starts_what_the_unit_starts(name):
    said = settings(name)
    program, *arguments = shlex.split(unit_value(name, "ExecStart"))
    assert said["Entrypoint"] == [program.removeprefix("/usr/bin/")]
    assert said["Cmd"] == (arguments if name == "service" else ["--help"])
    (user, ) = re.findall(r'^u +(\S+) +- +"[^"]*" (\S+)$', (
        ROOT / f"deploy/systemd/{UNITS[name]}.sysusers").read_text(), re.MULTILINE)
    assert user[0] == unit_value(name, "User")
    assert list(said["Volumes"]) == [said["WorkingDir"]] == [user[1]]
    assert f"HOME={user[1]}" in said["Env"] and not said["User"].startswith("0")


def test_the_service_is_healthy_as_the_documents_say():
    kind, *check = settings("service")["Healthcheck"]["Test"]
    assert kind == "CMD" and shlex.join(check) in (ROOT / "docs/operating.md").read_text()
    port = re.search(r"^# port = (\d+)", (ROOT / "deploy/nightjar.toml").read_text(), re.MULTILINE)
    assert list(settings("service")["ExposedPorts"]) == [f"{port[1]}/tcp"]
    assert f":{port[1]}/readyz" in check[-1]


def test_the_pod_fits_the_runners_image():
    (container, ) = pod()["containers"]
    version = re.search(r"project\(nightjar VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
    assert container["image"].split("/")[-1] == f"nightjar-runner:{version[1]}"
    context = pod()["securityContext"]
    assert settings("runner")["User"] == f"{context['runAsUser']}:{context['runAsGroup']}"
    python = {entry["name"]: entry.get("value") for entry in container["env"]}["PYTHON"]
    path = dict(entry.split("=", 1) for entry in settings("runner")["Env"])["PATH"]
    assert python == f"{path.split(':')[0]}/python"


@pytest.mark.parametrize("arguments, complaint", [
    (["--fast"], "unknown option --fast; see deploy/images --help"),
    (["agent"], "unknown option agent; see deploy/images --help")])
def test_wrong_use_is_refused_in_one_line(arguments, complaint):
    done = subprocess.run([ROOT / "deploy/images", *arguments], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"deploy/images: {complaint}\n")
