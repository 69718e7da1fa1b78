"""Where a job gets the program nightjar-runner from an archive: a file or an address, with its
SHA-256. Used by start.py."""

import hashlib
import http.client
import pathlib
import shutil
import subprocess
import urllib.request

ANSWER_SECONDS = 60
PACKAGE = b"!<arch>\n"  # what a Debian package begins with


class WrongUse(Exception):
    """Exit code 2."""


class Broken(Exception):
    """Exit code 3."""


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def fetch(address, target):
    try:
        with urllib.request.urlopen(address, timeout=ANSWER_SECONDS) as answer, \
                open(target, "wb") as out:
            shutil.copyfileobj(answer, out)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Broken(f"cannot fetch {address}: {error}") from error


def run(*command):
    """Standard output of a command."""
    try:
        done = subprocess.run([str(word) for word in command], text=True, capture_output=True,
                              timeout=600, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Broken(f"{command[0]} cannot be run: {error}") from error
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise Broken(f"{command[0]} ended with {done.returncode}: {said}")
    return done.stdout


def checked(archive, sha256, folder):
    """The archive as a file whose SHA-256 is right."""
    file = pathlib.Path(archive)
    if archive.startswith(("https://", "http://")):
        if not sha256:
            raise WrongUse(f"the input 'sha256' is needed: {archive} may change")
        file = folder / "nightjar-runner.archive"
        fetch(archive, file)
    elif not file.is_file():
        raise WrongUse(f"there is no archive {archive}")
    if sha256 and sha256_of(file) != sha256.lower():
        raise Broken(f"{archive} has the SHA-256 {sha256_of(file)}, and not {sha256.lower()}; "
                     "nothing of it was run")
    return file


def unpacked(archive, sha256, folder):
    """Unpacks the archive below `folder`, and returns the path of its nightjar-runner."""
    file = checked(archive, sha256, folder)
    place = folder / "nightjar-runner"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    with open(file, "rb") as opened:
        is_package = opened.read(len(PACKAGE)) == PACKAGE
    if is_package:
        run("dpkg-deb", "--extract", file, place)
    else:
        run("tar", "--extract", "--no-same-owner", "--file", file, "--directory", place)
    found = sorted(place.glob("**/bin/nightjar-runner"))
    if len(found) != 1:
        raise WrongUse(f"{archive} has {len(found)} programs bin/nightjar-runner, and not one")
    return found[0]


def version(path):
    """What the program says of itself. Tells early that it was made for another system."""
    return run(path, "--version").strip()
