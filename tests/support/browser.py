"""A headless Chromium, driven through WebDriver over HTTP. Used by the tests of the pages and by
the script that makes the documents' pictures."""

import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

KEYS = {"Enter": "\ue007", "Tab": "\ue004", "Escape": "\ue00c", "Down": "\ue015", "Left": "\ue012",
        "Right": "\ue014", "Home": "\ue011", "Control": "\ue009"}
WIDE, PHONE = (1280, 1000), (390, 844)


def missing():
    """Why there is no browser here; empty: there is one."""
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            return f"{program} is not installed; deploy/build --tests installs it"
    return ""


class Browser:
    """One tab. The caller closes it."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.folder = tempfile.mkdtemp(prefix="nightjar-browser-")
        self.url = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(["chromedriver", f"--port={port}"], env=os.environ | {
            "HOME": self.folder}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait(self._is_up, 30, "chromedriver to answer")
        self.session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:loggingPrefs": {"browser": "ALL"}, "goog:chromeOptions": {"args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--hide-scrollbars", "--force-prefers-reduced-motion"]}}}})["sessionId"]

    def _is_up(self):
        try:
            return self._call("GET", "/status")["ready"]
        except OSError:
            return False

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            said = json.load(error)["value"]
            raise RuntimeError(f"{said['error']}: {said['message']}") from None

    def ask(self, method, path, body=None):
        return self._call(method, f"/session/{self.session}{path}", body)

    def devtools(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def show(self, size=WIDE, dark=False):
        """What the page is shown on from now on."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1],
                      deviceScaleFactor=1, mobile=False)
        self.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, address):
        """Loads the address again, even where only the part after # differs."""
        self.ask("POST", "/url", {"url": "about:blank"})
        self.ask("POST", "/url", {"url": address})

    def run(self, script, *arguments):
        """What the body of an asynchronous function returns."""
        return self.ask("POST", "/execute/sync", {
            "script": f"return (async function () {{{script}\n}})(...arguments)",
            "args": list(arguments)})

    def press(self, *keys):
        """Keys one after the other; "Control+k" is a chord."""
        actions = []
        for key in keys:
            chord = [KEYS.get(part, part) for part in key.split("+")] if key != "+" else ["+"]
            actions += [{"type": "keyDown", "value": k} for k in chord]
            actions += [{"type": "keyUp", "value": k} for k in reversed(chord)]
        self.ask("POST", "/actions", {"actions": [
            {"type": "key", "id": "keyboard", "actions": actions}]})

    def wait(self, condition, seconds=60, what="the page"):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := condition():
                return found
            time.sleep(.03)
        raise AssertionError(f"waited {seconds} s for {what}")

    def complaints(self):
        """What the console says since the last call."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})
                if entry["level"] in ("SEVERE", "WARNING")]

    def picture(self, whole=False):
        """A PNG's bytes, of the window or of the whole page."""
        more = {}
        if whole:
            size = self.devtools("Page.getLayoutMetrics")["cssContentSize"]
            more = {"captureBeyondViewport": True, "clip": {
                "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}
        return base64.b64decode(self.devtools("Page.captureScreenshot", format="png", **more)[
            "data"])

    def close(self):
        try:
            self.ask("DELETE", "")
        finally:
            self.process.terminate()
            self.process.wait(20)
            shutil.rmtree(self.folder, ignore_errors=True)
