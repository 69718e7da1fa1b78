"""The demo's wheel index on loopback: PEP 503 with the oddities of the real nightly index.

    index_server.py --day DIR

Prints `{"index": URL}` on its first line, then serves until it is stopped. Wheels come from another
origin than the pages (as nightlies do), carry no hash, and stand among lines that are none of ours.
DIR/published is read for every request: a wheel is listed once its name is there."""

import argparse
import html
import http.server
import json
import os
import re
import threading
import urllib.parse

# Lines that must be passed over: other Pythons, platforms, packages, an older base version of the
# same date, and one that is no wheel.
STRANGERS = [
    "torch-{release}.dev{day}+{variant}-cp39-cp39-linux_x86_64.whl",
    "torch-{release}.dev{day}+{variant}-cp315-cp315t-manylinux_2_28_x86_64.whl",
    "torch-{release}.dev{day}+{variant}-{tag}-{tag}-win_amd64.whl",
    "torch-{release}.dev{day}-{tag}-none-macosx_14_0_arm64.whl",
    "torch-{release}.dev{day}+{variant}-{tag}-{tag}-manylinux_2_28_aarch64.whl",
    "torch-2.3.0.dev{day}+{variant}-{tag}-{tag}-manylinux_2_28_x86_64.whl",
    "torchvision-0.28.0.dev{day}+{variant}-{tag}-{tag}-linux_x86_64.whl",
    "torch-{release}.dev{day}+{variant}.tar.gz",
]


def published(folder):
    try:
        with open(os.path.join(folder, "published")) as file:
            return file.read().split()
    except FileNotFoundError:
        return []


def _anchor(href, name):
    shown = html.escape(name)
    return (
        f'<a href="{html.escape(href)}" data-dist-info-metadata="sha256={"0" * 64}" '
        f'data-core-metadata="sha256={"0" * 64}" '
        f'data-upload-time="2026-01-01T00:00:00Z">{shown}</a><br/>'
    )


def page(wheels, origin):
    """The page of torch: each published wheel by its address at `origin`, among the lines to
    skip."""
    lines = []
    for wheel in wheels:
        release, day, variant, tag = re.match(r"torch-([\d.]+)\.dev(\d{8})\+([\w.]+)-(\w+)-",
                                              wheel).groups()
        for stranger in STRANGERS:
            name = stranger.format(release=release, day=day, variant=variant, tag=tag)
            lines.append(_anchor("/whl/nightly/cpu/" + urllib.parse.quote(name), name))
        lines.append(_anchor(f"{origin}/whl/nightly/cpu/{urllib.parse.quote(wheel)}", wheel))
    body = "\n    ".join(lines)
    return (
        "<!DOCTYPE html>\n<html>\n  <head><meta name=\"pypi:repository-version\" "
        "content=\"1.0\"></head>\n"
        f"  <body>\n    <h1>Links for torch</h1>\n    {body}\n  </body>\n</html>\n")


class Quiet(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def reply(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-cache,no-store,must-revalidate")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self):
        self.do_GET()


class Pages(Quiet):
    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path.rstrip("/")
        if path == "/whl/nightly/cpu/torch":
            text = page(published(self.server.day), self.server.wheels_origin)
            self.reply(200, "text/html", text.encode())
        elif path == "/whl/nightly/cpu":
            self.reply(
                200, "text/html",
                b'<a href="torch/">torch</a><br/>\n<a href="torchvision/">torchvision</a>\n')
        else:
            self.reply(404, "text/plain", b"not found\n")


class Wheels(Quiet):
    def do_GET(self):
        name = urllib.parse.unquote(self.path).rsplit("/", 1)[1]
        if name not in published(self.server.day):
            self.reply(403, "text/plain", b"forbidden\n")
            return
        path = os.path.join(self.server.day, "wheels", name)
        self.send_response(200)
        self.send_header("Content-Type", "binary/octet-stream")
        self.send_header("Content-Length", str(os.path.getsize(path)))
        self.end_headers()
        if self.command != "HEAD":
            with open(path, "rb") as file:
                while chunk := file.read(1 << 20):
                    self.wfile.write(chunk)


def start(day):
    """Starts both servers in threads; returns (index URL, where its links lead, function that stops
    them)."""
    servers = []
    for handler in (Wheels, Pages):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        server.day = day
        servers.append(server)
    wheels, pages = servers
    pages.wheels_origin = f"http://127.0.0.1:{wheels.server_port}"
    threads = [threading.Thread(target=server.serve_forever, daemon=True) for server in servers]
    for thread in threads:
        thread.start()

    def stop():
        for server in servers:
            server.shutdown()
            server.server_close()
    return f"http://127.0.0.1:{pages.server_port}/whl/nightly/cpu", pages.wheels_origin, stop


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--day", required=True, help="the folder that make_day.py made")
    index, _, _ = start(parser.parse_args().day)
    print(json.dumps({"index": index}), flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
