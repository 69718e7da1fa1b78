"""What the tests of the pages share: where each page is, and what is shown. Used by tests/e2e."""

import json
import urllib.parse
import urllib.request

PAGES = ["morning", "changes", "series", "compare", "compilers", "vision", "domains", "roofline",
         "nights", "machines", "builds", "culprit", "profiled", "profiled on a GPU", "suspected",
         "search", "open search", "one series", "two series", "commit", "author", "nothing"]

def addresses_in(history):
    """What stands after # for each page."""
    def get(path):
        with urllib.request.urlopen(f"{history.url}/api/v1/{path}", timeout=30) as answer:
            return json.load(answer)

    def items(path):
        return get(path)["items"]
    regressions = items("regressions?limit=100")
    culprit = next(r for r in regressions if r["culprit"])
    searches = items("bisections?limit=100")
    series = [s["id"] for s in items("series?limit=9&metric=latency")]
    differences = {r["id"]: get(f"regressions/{r['id']}/profile")["difference"]
                   for r in regressions}
    profiled = next(number for number, found in differences.items() if found)
    on_gpu = next(number for number, found in differences.items()
                  if found and any(kernel["clear"] for kernel in found["kernels"]))
    return {
        "morning": "", "nothing": "no/such/page", "nights": "nights", "machines": "machines",
        "changes": "changes?days=365&all=yes", "series": "series?words=eager", "compare": "compare",
        "compilers": "compilers?sort=compile_time", "vision": "vision?precision=fp16",
        "domains": "domains", "roofline": "roofline",
        "builds": "builds", "culprit": f"regressions/{culprit['id']}",
        "profiled": f"regressions/{profiled}", "profiled on a GPU": f"regressions/{on_gpu}",
        "author": "authors?name=" + urllib.parse.quote(
            culprit["culprit"]["commit_details"][0]["author"]),
        "suspected": "regressions/%d" % next(
            r["id"] for r in regressions if r["state"] == "suspected"),
        "search": "bisections/%d" % next(
            b["id"] for b in searches if b["state"] == "culprit" and b["regression"]),
        "search for a fix": "bisections/%d" % next(
            b["id"] for b in searches if b["state"] == "culprit" and not b["regression"]),
        "open search": "bisections/%d" % next(b["id"] for b in searches if b["state"] == "open"),
        "one series": f"series/{series[0]}",
        "two series": f"series/{series[0]}?with={series[1]}&by=build",
        "commit": f"commits/{culprit['culprit']['commits'][0]}"}


def visit(browser, history, address):
    browser.open(f"{history.url}/#/{address}")
    settle(browser)


def settle(browser):
    """Until the page is shown, every late cell is filled and every chart is drawn."""
    browser.wait(lambda: browser.run("""
        const main = document.getElementById("main");
        return main?.getAttribute("aria-busy") === "false"
          && ![...main.querySelectorAll(".later, .chart")].some((one) => !one.hasChildNodes()
            && one.checkVisibility());"""))


def asked(history, path):
    with urllib.request.urlopen(f"{history.url}/api/v1/{path}", timeout=30) as answer:
        return json.load(answer)


def texts(browser, selector):
    return browser.run("return [...document.querySelectorAll(arguments[0])]"
                       ".map((one) => one.textContent)", selector)
