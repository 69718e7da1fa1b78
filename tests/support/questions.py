"""Ten questions of an on-call engineer, and the clicks from the first page that answer each. The
browser's test walks them, and screenshots.py makes the pictures of docs/questions.md."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Question:
    picture: str
    source: str    # where somebody asked it
    clicks: tuple  # (selector, text that the element begins with), each the first that fits
    seen: str      # a selector of what answers it
    says: str      # a text in it


def menu(name):
    return "nav a", name


QUESTIONS = [
    Question("past-year", "pytorch/pytorch#144890",
             (menu("Changes"), ("main .tools a", "last 365 days")),
             "section:nth-of-type(2) tbody tr", ""),
    Question("reproduce", "pytorch/pytorch#136647",
             (menu("Changes"), ("tr:has(td[data-name=issue] a) a[href^='#/regressions/']", "")),
             ".copyable pre", "nightjar verify"),
    Question("beyond-noise", "rust-lang/rustc-perf#909", (menu("Compare"),), ".lead", "alike of"),
    Question("history-of-a-row", "rust-lang/rustc-perf#1300",
             (menu("Compare"), ("td a[href^='#/series/']", "")), ".chart.pan svg", ""),
    Question("mean-over-what", "pytorch/test-infra#6969", (menu("Compilers"),),
             "td[data-name='geomean speed-up'] .within", "over"),
    Question("search", "pytorch/pytorch#96953", (("main a[href^='#/bisections/']", ""),),
             ".chart[role=slider] svg", ""),
    Question("worse-and-better", "rust-lang/rustc-perf#2208", (menu("Changes"),),
             "section:nth-of-type(3) h2", "Better"),
    Question("improvement", "pytorch/pytorch#156511",
             (menu("Changes"), ("section:nth-of-type(3) td a[href^='#/series/']", "")),
             ".chart.pan svg", ""),
    Question("my-commit", "pytorch/benchmark#2410",
             (menu("Changes"), ("td a[href^='#/commits/']", "")), ".lead", "It is blamed"),
    Question("noise", "pytorch/benchmark#2162", (menu("Nights"),), ".lead", "void"),
]

CLICK = """
    const found = [...document.querySelectorAll(arguments[0])]
      .find((node) => node.textContent.trim().startsWith(arguments[1]));
    found?.click();
    return found !== undefined;"""

SEEN = """
    return [...document.querySelectorAll(arguments[0])]
      .some((node) => node.textContent.includes(arguments[1]));"""


def walk(browser, question, settle):
    """From the page that is shown to the answer; `settle` waits until a page is there."""
    for selector, text in question.clicks:
        if not browser.run(CLICK, selector, text):
            raise AssertionError(f"{question.picture}: nothing to click at {selector} '{text}'")
        settle(browser)
    browser.wait(lambda: browser.run(SEEN, question.seen, question.says), 30,
                 f"the answer to {question.picture}")
