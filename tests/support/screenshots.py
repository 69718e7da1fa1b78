"""Makes the pictures of docs/page.md and docs/questions.md from a made history:

    .cache/tools/bin/python tests/support/screenshots.py

Each is a PNG of at most 256 colours, which a page of text and lines hardly has more of."""

import collections
import json
import pathlib
import struct
import sys
import tempfile
import urllib.request
import zlib

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "history")]

import make
from browser import Browser
from questions import QUESTIONS, walk

PICTURES = HERE.parents[1] / "docs" / "pictures"
SIZE = (1120, 700)
MOST_BYTES = 100_000


def rows_of(png):
    """Width and the unfiltered rows of an 8-bit RGB or RGBA PNG, as lists of RGB triples."""
    at, data, width, channels, rows = 8, b"", 0, 3, []
    while at < len(png):
        length, = struct.unpack(">I", png[at:at + 4])
        kind, body = png[at + 4:at + 8], png[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, channels = struct.unpack(">I", body[:4])[0], {2: 3, 6: 4}[body[9]]
        elif kind == b"IDAT":
            data += body
        at += 12 + length
    raw, size = zlib.decompress(data), width * channels
    before = bytearray(size)
    for start in range(0, len(raw), size + 1):
        row = unfiltered(raw[start], bytearray(raw[start + 1:start + 1 + size]), before, channels)
        rows.append([tuple(row[i:i + 3]) for i in range(0, size, channels)])
        before = row
    return width, rows


def unfiltered(kind, row, above, step):
    for i, value in enumerate(row):
        left = row[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        row[i] = (value + (0, left, above[i], (left + above[i]) // 2,
                           predicted(left, above[i], corner))[kind]) & 255
    return row


def predicted(left, up, corner):
    guess = left + up - corner
    return min((left, up, corner), key=lambda one: abs(guess - one))


def small(png):
    """The same picture in a palette of its most frequent colours."""
    width, rows = rows_of(png)
    count = collections.Counter(pixel for row in rows for pixel in row)
    palette = [colour for colour, _ in count.most_common(256)]
    place = {colour: i for i, colour in enumerate(palette)}
    for colour in count:
        if colour not in place:
            place[colour] = min(range(len(palette)), key=lambda i: sum(
                (a - b) ** 2 for a, b in zip(palette[i], colour)))
    data = b"".join(b"\0" + bytes(place[pixel] for pixel in row) for row in rows)

    def chunk(kind, body):
        return (struct.pack(">I", len(body)) + kind + body
                + struct.pack(">I", zlib.crc32(kind + body)))
    return (b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">2I5B", width, len(rows), 8, 3, 0, 0, 0))
            + chunk(b"PLTE", b"".join(bytes(colour) for colour in palette))
            + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))


def addresses(url):
    with urllib.request.urlopen(f"{url}/api/v1/regressions?state=reported&limit=50") as answer:
        reported = json.load(answer)["items"]
    shown = next(r for r in reported if r["culprit"] and r["bisection"])
    return {"morning": "", "regression": f"regressions/{shown['id']}",
            "series": f"series/{shown['series'][0]['series']}"}


def settle(browser):
    browser.wait(lambda: browser.run("""
        const main = document.getElementById("main");
        return main?.getAttribute("aria-busy") === "false"
          && ![...main.querySelectorAll(".later")].some((cell) => !cell.hasChildNodes());"""))
    browser.run("await new Promise((done) => requestAnimationFrame(() =>"
                " requestAnimationFrame(done)))")


def save(browser, name):
    picture = small(browser.picture())
    if len(picture) > MOST_BYTES:
        raise ValueError(f"{name} is {len(picture)} bytes; make it simpler")
    (PICTURES / f"{name}.png").write_bytes(picture)
    print(f"docs/pictures/{name}.png: {len(picture)} bytes")


def main():
    (PICTURES / "questions").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "history"
        make.make(made, nights=180, workloads=40)
        process, url = make.serve(made)
        browser = Browser()
        try:
            browser.show(SIZE)
            for name, address in addresses(url).items():
                browser.open(f"{url}/#/{address}")
                settle(browser)
                save(browser, name)
            for question in QUESTIONS:
                browser.open(f"{url}/#/")
                settle(browser)
                walk(browser, question, settle)
                browser.run("document.querySelector(arguments[0]).scrollIntoView("
                            "{block: 'center', inline: 'nearest'})", question.seen)
                settle(browser)
                save(browser, f"questions/{question.picture}")
        finally:
            browser.close()
            process.terminate()
            process.wait(30)


if __name__ == "__main__":
    main()
