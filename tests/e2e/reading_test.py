"""What a person who has not built the pages needs to read them: labels, hints, one number for one
thing, links that lead somewhere, and no button that would be refused."""

import re
import types

import pytest

import make
from browser import PHONE, WIDE, missing
from page_view import PAGES, addresses_in, asked, settle, texts, visit

pytestmark = [pytest.mark.browser,
              pytest.mark.skipif(bool(missing()), reason=missing() or "there is a browser")]


@pytest.fixture(scope="module")
def addresses(history):
    return addresses_in(history)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A service of another project, which knows nothing yet."""
    folder = tmp_path_factory.mktemp("fresh")
    (folder / "wheels").mkdir()
    (folder / "project.toml").write_text('[project]\nname = "rivulet"\npackage = "rivulet"\n')
    (folder / "nightjar.toml").write_text(make.CONFIGURATION.format(
        folder=folder, variant="any", token="0" * 64).replace(
            '[night]', '[project]\nfile = "project.toml"\n[night]'))
    process, url = make.serve(folder)
    yield types.SimpleNamespace(url=url, folder=folder)
    process.terminate()
    process.wait(30)


def test_a_card_on_a_phone_names_each_of_its_values(browser, history):
    browser.show(PHONE)
    visit(browser, history, "changes?days=365&all=yes")
    bare = browser.run("""
        const cells = [...document.querySelectorAll("table.cards td:not(:first-child)")]
          .filter((cell) => cell.dataset.name && cell.offsetParent !== null);
        return [cells.length, cells.filter((cell) => !getComputedStyle(cell, "::before").content
          .includes(cell.dataset.name)).length]""")
    assert bare[0] > 20 and bare[1] == 0


@pytest.mark.parametrize("page", ["roofline", "nights"])
def test_a_picture_that_is_cut_says_that_it_can_be_scrolled(browser, history, page):
    cut = """return [...document.querySelectorAll("main .chart.still")].map((box) =>
        [box.scrollWidth > box.clientWidth,
         box.closest("figure").querySelector(".cut").checkVisibility()])"""
    if page == "nights":  # the newest may have no session yet
        done = next(night for night in asked(history, "nights?state=done")["items"]
                    if night["build"])
        page = f"nights?night={done['id']}"
    browser.show(PHONE)
    visit(browser, history, page)
    browser.wait(lambda: (found := browser.run(cut)) and all(is_cut == told
                                                             for is_cut, told in found))
    assert [True, True] in browser.run(cut)
    browser.show(WIDE)
    visit(browser, history, page)
    browser.wait(lambda: not any(is_cut or told for is_cut, told in browser.run(cut)))


def test_commands_wrap_and_copy_stands_beside_them(browser, history, addresses):
    for size in (PHONE, WIDE):
        browser.show(size)
        visit(browser, history, addresses["culprit"])
        boxes = browser.run("""return [...document.querySelectorAll(".copyable")].map((one) => {
            const pre = one.querySelector("pre"), button = one.querySelector("button");
            const [a, b] = [pre.getBoundingClientRect(), button.getBoundingClientRect()];
            return [pre.scrollWidth <= pre.clientWidth, b.left >= a.right, b.right <= innerWidth];
        })""")
        assert boxes
        assert boxes == [[True, True, True]] * len(boxes)


def test_a_regression_s_page_agrees_with_itself(browser, history, addresses):
    browser.show()
    visit(browser, history, addresses["culprit"])
    text = browser.run("return document.querySelector('main').textContent")
    sessions = re.search(r"runs in (\d+ sessions?)", text)[1]
    assert texts(browser, "output[for=step]") == [f"all of it: the confirmation and {sessions}"]
    # It has an issue, so it has its commands; where there is none yet, the page says so.
    assert any("nightjar-runner measure" in one for one in texts(browser, ".copyable pre"))
    assert "CPU model" in texts(browser, "dl.facts dt")
    visit(browser, history, addresses["suspected"])
    assert "the issue, which is not written yet" in browser.run(
        "return document.querySelector('main').textContent")


def test_bars_fit_a_phone_with_their_values(browser, history):
    browser.show(PHONE)
    visit(browser, history, "vision")
    outside = browser.run("""
        const boxes = [...document.querySelectorAll(".chart.still")];
        return [boxes.length, boxes.flatMap((box) => [...box.querySelectorAll("text")].filter(
          (one) => one.getBoundingClientRect().left < box.getBoundingClientRect().left - 1
          || one.getBoundingClientRect().right > box.getBoundingClientRect().right + 1)
          .map((one) => one.textContent))]""")
    assert outside[0] == 2 and outside[1] == []


def test_series_that_are_found_can_be_told_apart(browser, history):
    name = next(s["workload_name"] for s in asked(history, "series?limit=500")["items"]
                if "/cuda/" in s["workload_name"])
    browser.show(PHONE)
    visit(browser, history, "")
    browser.press("/", *name.split("/")[1])
    hits = "return [...document.querySelectorAll('#hits a')].map((hit) => hit.textContent)"
    shown = browser.wait(lambda: (found := browser.run(hits)) and all(
        one.startswith("series") for one in found) and found)
    assert len(shown) > 3 and len(set(shown)) == len(shown)
    assert browser.run("""return [...document.querySelectorAll("#hits a")]
        .every((hit) => hit.scrollWidth <= hit.clientWidth)""")
    browser.press("Escape", "Escape")


def test_machines_that_can_be_compared_stand_beside_each_other(browser, history):
    browser.show()
    visit(browser, history, "machines")
    lead, = texts(browser, "main .lead")
    assert re.match(r"The second is \d+\.\d\d× as fast, as geometric mean over \d+ workload", lead)
    assert not re.search(r"\b1 (times|comparisons|workloads)\b", browser.run(
        "return document.querySelector('main').textContent"))


def test_long_tables_are_grouped_folded_and_short(browser, two_years):
    """A page of 30,151 pixels, as before, cannot be read on a phone."""
    for page, most in (("compilers", 9500), ("vision", 2600)):
        browser.show(PHONE)
        visit(browser, two_years, page)
        browser.run("localStorage.clear()")
        visit(browser, two_years, page)
        assert browser.run("return document.documentElement.scrollHeight") < most
        groups = browser.run("""return [...document.querySelectorAll(".groups > details")].map(
            (one) => [one.querySelector("summary").textContent, one.querySelectorAll("tr").length])
            """)
        assert len(groups) > 3
        for summary, rows in groups:
            assert re.match(r".+: \d+ (row|suite)s?", summary) and rows > 1
        empty = browser.run("""return [...document.querySelectorAll(".groups table")].flatMap(
            (table) => [...table.querySelectorAll("th")].map((_, i) => [...table.querySelectorAll(
              "tbody tr")].every((row) => row.children[i].textContent === "–"))).filter(Boolean)""")
        assert empty == []


def test_the_header_names_the_project_and_has_pages_of_it_only(browser, history, fresh):
    seen = """return [document.getElementById("project").textContent,
        [...document.querySelectorAll("nav a")].filter((one) => one.checkVisibility())
          .map((one) => one.textContent)]"""
    browser.show()
    visit(browser, history, "")
    browser.wait(lambda: browser.run(seen)[0] == "pytorch")
    assert len(browser.run(seen)[1]) == 11
    visit(browser, fresh, "")
    browser.wait(lambda: browser.run(seen)[0] == "rivulet")
    assert browser.run(seen)[1] == ["Morning", "Changes", "Series", "Compare", "Nights",
                                    "Machines", "Builds"]


def test_a_new_service_says_what_to_do_next(browser, fresh, history):
    browser.show()
    visit(browser, fresh, "")
    steps = dict(browser.run("""return [...document.querySelectorAll(".steps > li")].map((one) =>
        [one.querySelector("strong").textContent, one.className === "done"])"""))
    assert steps == {"The service works": True, "Builds are listed": False,
                     "A build's commit is proved": False, "A runner is connected": False,
                     "A night has begun": False, "A night has ended": False}
    told = browser.run("return document.querySelector('.steps').textContent")
    assert "--enrol once" in told and f"{fresh.url}/api/v1/nights" in told
    # Nothing is reassuring where nothing was measured.
    assert texts(browser, "main .lead") == ["No night has ended yet, so nothing was judged."]
    visit(browser, fresh, "machines")
    assert any("--enrol once" in command for command in texts(browser, ".copyable pre"))
    visit(browser, history, "")
    assert texts(browser, ".steps") == []


def test_what_no_machine_goes_on_with_waits_for_a_person(browser, two_years):
    visit(browser, two_years, "")
    waits = {str(one["id"]) for one in asked(two_years,
                                             "regressions?limit=500&state=unconfirmed")["items"]}
    assert waits
    shown = browser.run("""return [...[...document.querySelectorAll("main section")].find((one) =>
        one.querySelector("h2")?.textContent === "Waits for a person")
        .querySelectorAll("tbody .workload a")].map((one) => one.hash.split("/").at(-1))""")
    assert waits <= set(shown)


def test_only_an_admin_is_shown_what_only_an_admin_may(browser, own_history):
    def cancels():
        return len(texts(browser, "[aria-label^='Cancel job']"))

    def sign_in(token):
        browser.run("document.getElementById('sign-in').click()")
        browser.run("document.getElementById('token').value = arguments[0];"
                    "document.querySelector('dialog form button').click()", token)
    browser.show()
    visit(browser, own_history, "")
    assert asked(own_history, "jobs?state=queued")["items"]
    assert cancels() == 0
    sign_in("wrong")
    browser.wait(lambda: "does not know this token" in browser.run(
        "return document.querySelector('dialog').textContent"))
    assert cancels() == 0
    browser.press("Escape")
    browser.wait(lambda: browser.run("return document.querySelector('dialog') === null"))
    sign_in(own_history.admin)
    browser.wait(lambda: cancels() > 0)
    assert "admin" in browser.run("return document.getElementById('sign-in').textContent")
    browser.run("""window.confirm = () => true;
        document.querySelector('[aria-label^="Cancel job"]').click()""")
    browser.wait(lambda: any(one["state"] == "cancelled" for one in asked(
        own_history, "jobs?state=cancelled")["items"]))
    regression = asked(own_history, "regressions?limit=1")["items"][0]["id"]
    browser.run("location.hash = arguments[0]", f"#/regressions/{regression}")
    browser.wait(lambda: browser.run("return document.getElementById('decision') !== null"))
    assert browser.run("return document.getElementById('admin-token') === null")
    browser.run("document.getElementById('sign-in').click()")
    browser.wait(lambda: browser.run("return document.getElementById('admin-token') !== null"))
    browser.complaints()  # the browser notes the 401


def test_versions_are_short_where_they_are_read_and_whole_where_they_are_saved(browser, history):
    visit(browser, history, "nothing")
    short, whole, saved = browser.run("""
        const { tableRows, table, whole, version } = await import("/dom.js");
        const long = "0.9.1a0+git" + "1a2b3c4d5e".repeat(4);
        const made = table(null, [whole("build", (one) => version(one))], [long]);
        return [made.querySelector("tbody").textContent, made.querySelector("code").title,
          tableRows(made)[1][0]]""")
    assert short == "0.9.1a0+git1a2b3c4d5e…"
    assert whole == saved == "0.9.1a0+git" + "1a2b3c4d5e" * 4


def test_changes_are_filtered_by_who_is_blamed(browser, history, addresses):
    culprit = asked(history, addresses["culprit"])["culprit"]["commit_details"][0]["author"]
    visit(browser, history, "changes?days=365")
    browser.run("""const chosen = document.getElementById("author");
        chosen.value = arguments[0]; chosen.dispatchEvent(new Event("change"))""", culprit)
    browser.wait(lambda: "author=" in browser.run("return location.hash"))
    settle(browser)
    wanted = {str(one["id"]) for one in asked(
        history, "regressions?limit=500&counted=true")["items"] if one["culprit"]
        and culprit in [c["author"] for c in one["culprit"]["commit_details"]]}
    shown = browser.run("""return [...document.querySelectorAll(
        "main section:nth-of-type(2) tbody .workload a")].map((one) => one.hash.split("/").at(-1))
        """)
    assert wanted and set(shown) == wanted


def test_a_commit_is_shown_by_its_first_digits(browser, history, addresses):
    sha = addresses["commit"].split("/")[1]
    visit(browser, history, f"commits/{sha[:9]}")
    assert sha in browser.run("return document.querySelector('main').textContent")


def test_morning_changes_and_rest_count_the_same_regressions(browser, history):
    counted = asked(history, "regressions?limit=500&counted=true")["items"]
    assert 0 < len(counted) < len(asked(history, "regressions?limit=500")["items"])
    visit(browser, history, "changes?days=365")
    lead = browser.run("return document.querySelector('main .lead').textContent")
    assert lead.startswith(f"{len(counted)} regressions")
    assert len(texts(browser, "main section:nth-of-type(2) tbody tr")) == min(len(counted), 20)
    since = "2020-01-01T00:00:00Z"
    browser.run("localStorage.setItem('nightjar-looked', arguments[0])", since)
    visit(browser, history, "")
    lead = browser.run("return document.querySelector('main .lead').textContent")
    rows = browser.run("""return [...document.querySelectorAll("main section")].find((one) =>
        one.querySelector("h2")?.textContent === "New since you looked")
        .querySelectorAll("tbody tr").length""")
    browser.run("localStorage.clear()")
    assert lead.startswith(f"{len(counted)} new regressions") and rows == len(counted)


def test_a_regression_has_one_size_wherever_it_is_told(browser, history, addresses):
    r = asked(history, addresses["culprit"])
    effect = r["effect"]
    assert effect["source"] == "search"
    assert [effect[key] for key in ("ratio", "low", "high")] == [
        r["culprit"][key] for key in ("ratio", "low", "high")]
    percent = f"+{(effect['ratio'] - 1) * 100:.1f}\u00a0%"
    within = f"(+{(effect['low'] - 1) * 100:.1f} to +{(effect['high'] - 1) * 100:.1f})"
    visit(browser, history, addresses["culprit"])
    for place in ("main .lead", "#size"):
        told = browser.run("return document.querySelector(arguments[0]).textContent", place)
        assert percent in told and within in told.replace(" %", "")
    # The other sizes on the page say what they are.
    captions = texts(browser, "main caption, main section > p")
    assert any("both builds side by side" in one for one in captions)
    assert any(one.startswith("The confirmation, which measured both builds") for one in captions)
    for page in ("changes?days=365", f"commits/{r['culprit']['commits'][0]}"):
        visit(browser, history, page)
        assert percent in browser.run("return document.querySelector('main').textContent")


FOLLOW = """
    const { pageOf, placeOf } = await import("/routes.js");
    const dead = [];
    for (const address of arguments[0]) {
      const place = placeOf(address);
      try {
        if (!place.name) throw new Error("there is no such page");
        const page = await pageOf(place.name);
        page.view(await page.load(place.argument, place.query), place.argument, place.query);
      } catch (error) {
        dead.push(`${address}: ${error.message}`);
      }
    }
    return dead"""


@pytest.mark.first
def test_every_link_of_every_page_leads_somewhere(browser, history, addresses):
    inside, outside = {}, {}
    browser.show()
    for page in PAGES:
        visit(browser, history, addresses[page])
        for href in browser.run("""return [...document.querySelectorAll("a[href]")]
                .map((one) => one.getAttribute("href"))"""):
            (inside if href.startswith("#/") else outside).setdefault(href, page)
    assert len(inside) > 200
    found = sorted(inside)
    for first in range(0, len(found), 100):  # a script has a minute
        dead = browser.run(FOLLOW, found[first:first + 100])
        assert dead == [], [inside[one.split(": ")[0]] for one in dead]
    own = [href for href in outside if not re.match("https?://|#main", href)]
    status = browser.run("""const found = {};
        for (const href of arguments[0]) found[href] = (await fetch(href)).status;
        return found""", own)
    assert status and set(status.values()) == {200}, status
