"""Every page in a real browser on a made history: the console is quiet, axe finds nothing in light,
dark and at a phone's width, nothing scrolls sideways, and the main tasks work by keyboard."""

import json
import re
import urllib.parse
import urllib.request
from collections import Counter

import pytest

from browser import PHONE, WIDE, missing
from page_view import PAGES, addresses_in, asked, settle, texts, visit
from questions import QUESTIONS, walk
from world import ROOT

AXE = ROOT / ".cache" / "tools" / "node_modules" / "axe-core" / "axe.min.js"
LOOKS = {"light": (WIDE, False), "dark": (WIDE, True), "phone": (PHONE, False)}
# Contrast takes axe the longest. Dark changes colours only, a phone's width changes no colour.
RULES = {"light": {}, "dark": {"runOnly": ["color-contrast"]},
         "phone": {"rules": {"color-contrast": {"enabled": False}}}}
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(missing()) or not AXE.exists(),
                       reason=missing() or f"{AXE} is missing; run deploy/build --tests")]


@pytest.fixture(scope="module")
def addresses(history):
    return addresses_in(history)


@pytest.fixture(scope="module")
def old_addresses(two_years):
    return addresses_in(two_years)


def title(browser):
    return browser.run("return document.title")


def complaints_of(browser, look):
    """What is wrong with the page that is shown, on this kind of screen."""
    browser.show(*LOOKS[look])
    found = browser.run("""
        await new Promise(requestAnimationFrame);
        const found = await axe.run(arguments[0]);
        return found.violations.map((v) =>
          [v.id, v.help, v.nodes.slice(0, 3).map((n) => n.html + " " + n.failureSummary)]);""",
                        RULES[look])
    wide, screen = browser.run("return [document.documentElement.scrollWidth, innerWidth]")
    return found + ([f"{wide} pixels wide on a screen of {screen}"] if wide > screen else [])


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_sound(browser, two_years, old_addresses, page):
    browser.show()
    browser.complaints()
    visit(browser, two_years, old_addresses[page])
    assert browser.run("return document.querySelector('main section') !== null")
    browser.run(AXE.read_text())
    assert {look: complaints_of(browser, look) for look in LOOKS} == {look: [] for look in LOOKS}
    for width in (1120, 800):  # between a laptop's screen and a phone's
        browser.show((width, 900))
        assert browser.run("await new Promise(requestAnimationFrame);"
                           "return document.documentElement.scrollWidth") <= width
    failed = browser.run("""return [...document.querySelectorAll("main section .error")]
        .map((e) => e.textContent)""")
    assert failed == [] or page == "nothing"
    assert browser.complaints() == []


@pytest.mark.first
def test_a_culprit_is_found_from_the_morning_by_keyboard(browser, history, addresses):
    browser.show()
    visit(browser, history, "")
    browser.press("/")
    browser.wait(lambda: browser.run(
        "return document.activeElement.getAttribute('role') === 'combobox'"))
    number = addresses["culprit"].split("/")[1]
    browser.press(*number)
    browser.wait(lambda: f"regression {number}" in (browser.run(
        "return document.querySelector('#hit-0')?.textContent") or ""))
    browser.press("Enter")
    browser.wait(lambda: title(browser).startswith(f"Regression {number} "))
    settle(browser)
    browser.run("document.querySelector('.chart[role=slider]').focus()")
    before = browser.run("return document.querySelector('.detail').textContent")
    browser.press("Left")
    assert browser.run("return document.querySelector('.detail').textContent") != before


def test_the_palette_closes_and_focus_returns(browser, history):
    visit(browser, history, "machines")
    browser.run("document.querySelector('nav a').focus()")
    browser.press("Control+k")
    browser.wait(lambda: browser.run("return document.querySelector('dialog[open]') !== null"))
    browser.press("Escape")
    browser.wait(lambda: browser.run("return document.querySelector('dialog') === null"))
    assert browser.run("return document.activeElement.textContent") == "Morning"


def test_an_issue_and_a_commit_are_found_however_old_they_are(browser, two_years):
    def look_for(text, found):
        visit(browser, two_years, "machines")
        browser.press("/")
        browser.wait(lambda: browser.run("return document.querySelector('dialog[open]') !== null"))
        browser.press(*text)
        browser.wait(lambda: found in (browser.run(
            "return document.querySelector('#hit-0')?.textContent") or ""))
    oldest = min((one for one in asked(two_years, "regressions?limit=500")["items"]
                  if one["issue_number"]), key=lambda one: one["id"])
    look_for(str(oldest["issue_number"]), f"issue #{oldest['issue_number']}")
    builds, cursor = [], ""
    while cursor is not None:
        page = asked(two_years, f"builds?limit=500{cursor and f'&cursor={cursor}'}")
        builds, cursor = builds + page["items"], page["next_cursor"]
    assert len(builds) > 500, "a newer one is found without asking for it"
    sha = builds[-1]["commit"]
    look_for(sha[:8], sha[:10])
    searches = asked(two_years, "bisections?limit=100")["items"]
    unbuilt = next(c for b in searches for c in asked(two_years, f"bisections/{b['id']}")["commits"]
                   if not c["runs"] and c["subject"]
                   and not asked(two_years, f"builds?commit={c['sha']}")["items"])
    look_for(unbuilt["sha"][:8], unbuilt["subject"])
    look_for("night 7", "night 7")
    named = asked(two_years, "series?limit=1&metric=peak_cpu_memory")["items"][0]
    look_for(named["workload_name"].split("/")[1] + " peak cpu", "peak CPU memory")


def test_a_search_for_a_series_is_in_the_address(browser, history):
    visit(browser, history, "series")
    browser.run("document.getElementById('words').focus()")
    browser.press(*"eager")
    browser.wait(lambda: browser.run("return location.hash") == "#/series?words=eager")
    settle(browser)
    rows = browser.wait(lambda: browser.run(
        "return [...document.querySelectorAll('.results .workload')].map((n) => n.title)"))
    assert all(name.endswith("/eager") for name in rows)


def test_series_are_filtered_by_machine_and_the_rest_is_behind_a_button(browser, history):
    items = asked(history, "series?limit=500")["items"]
    (machine, many), = Counter(s["machine"] for s in items).most_common(1)
    names = [s["workload_name"] for s in items if s["machine"] == machine]
    assert many > 20
    visit(browser, history, f"series?machine={machine}")
    assert browser.run("return document.getElementById('machine').value") == str(machine)
    rows = "return [...document.querySelectorAll('.results .workload')].map((n) => n.title)"
    browser.wait(lambda: len(browser.run(rows)) == 20)
    while len(shown := browser.run(rows)) < len(names):
        browser.run("document.querySelector('.results > div > button').click()")
        browser.wait(lambda: len(browser.run(rows)) > len(shown))
    assert sorted(shown) == sorted(names)


def test_a_card_on_a_phone_names_its_cells_and_leaves_out_what_is_not_known(browser, history):
    browser.show(PHONE)
    visit(browser, history, "changes?days=365")
    cells = browser.run("""return [...document.querySelectorAll("td")].map((td) => [
        td.checkVisibility(), td.textContent, !td.previousSibling
          || getComputedStyle(td, "::before").content !== "none"])""")
    assert [text for is_seen, text, _ in cells if is_seen and text == "–"] == []
    assert any(text == "–" for _, text, _ in cells)
    assert all(is_named for is_seen, _, is_named in cells if is_seen)
    browser.show()


def test_states_are_told_in_words_of_a_reader(browser, history):
    visit(browser, history, "nights")
    assert asked(history, "nights?limit=1")["items"][0]["state"] == "judging"
    assert "being judged" in texts(browser, "h2 + .lead .state")


def test_the_step_in_the_picture_is_the_size_that_counts(browser, history, addresses):
    found = asked(history, f"{addresses['culprit']}")
    levels = asked(history, f"bisections/{found['bisection']}")["commits"]
    last = [c["change"]["ratio"] for c in levels if c["change"]][-1]
    visit(browser, history, addresses["culprit"])
    dots, path = browser.run("""
        const picture = document.querySelector(".chart[role=slider]");
        return [[...picture.querySelectorAll("circle.point")].map((one) => one.getAttribute("cy")),
          picture.querySelector("path.step").getAttribute("d")]""")
    zero, end = float(dots[0]), float(dots[-1])
    low, high = (1 + (last - 1) * (float(y) - zero) / (end - zero)
                 for y in re.fullmatch(r"M\d+,([\d.]+)H[\d.]+[VL](?:[\d.]+,)?([\d.]+)H\d+",
                                       path).groups())
    assert found["effect"]["source"] == "search"
    assert high / low == pytest.approx(found["effect"]["ratio"], rel=1e-6)


def test_a_plot_zooms_and_moves_by_keys(browser, history, addresses):
    visit(browser, history, addresses["one series"])
    points = "return document.querySelectorAll('.chart.pan circle.point').length"
    browser.wait(lambda: browser.run(points) > 10)
    dates = """return [...document.querySelectorAll('.chart.pan text')].map((t) => t.textContent)
        .filter((t) => /^\\d{4}-/.test(t))"""
    before = browser.run(dates)
    browser.run("document.querySelector('.chart.pan').focus()")
    browser.press(*"++++++")
    browser.wait(lambda: browser.run(dates) != before)
    chosen = browser.run("return document.querySelector('.detail').textContent")
    browser.press("Home")
    assert browser.run("return document.querySelector('.detail').textContent") != chosen


def history_of(history, series):
    with urllib.request.urlopen(f"{history.url}/api/v1/series/{series}/history",
                                timeout=30) as answer:
        return json.load(answer)


def drawn(browser, selector):
    return browser.wait(lambda: browser.run(
        "return document.querySelector('.chart.pan ' + arguments[0])?.getAttribute('d')", selector))


def test_a_series_shows_levels_noise_and_nights_without_a_value(browser, history):
    """On a runner that fell silent, so that the newest nights have no value."""
    with urllib.request.urlopen(f"{history.url}/api/v1/series?metric=latency&limit=500",
                                timeout=30) as answer:
        series = next(s["id"] for s in json.load(answer)["items"]
                      if len(history_of(history, s["id"])["without"]) > 3)
    found = history_of(history, series)
    browser.show()
    visit(browser, history, f"series/{series}")
    assert drawn(browser, "path.noise").endswith("z")
    assert drawn(browser, "path.level").count("L") == len(found["points"]["build"]) - 1
    assert drawn(browser, "path.without").count("M") == len(found["without"])
    words = f"{len(found['without'])} nights without a value"
    folded = browser.run("""const fold = [...document.querySelectorAll("summary")]
        .find((one) => one.textContent === arguments[0]).closest("details");
        fold.open = true;
        return [...fold.querySelectorAll("tbody tr")].map((row) => row.textContent)""", words)
    assert found["without"][-1]["reason"] in folded[0]
    key = browser.run("return document.querySelector('.key').textContent")
    assert "A/A noise" in key and words in key


def test_a_series_shows_where_it_got_better(browser, history):
    with urllib.request.urlopen(f"{history.url}/api/v1/improvements", timeout=30) as answer:
        improvement = json.load(answer)["items"][0]
    browser.show()
    visit(browser, history, f"series/{improvement['series']}")
    percent = f"{abs(improvement['ratio'] - 1) * 100:.1f}\u00a0%"
    assert browser.wait(lambda: browser.run("""
        return [...document.querySelectorAll(".improved-name")].some(
            (one) => one.textContent.startsWith("improved") && one.textContent.includes(
                arguments[0])) && document.querySelectorAll(".chart.pan .improved").length > 0""",
                                            percent))


def test_a_series_lists_its_regressions_and_no_others(browser, history):
    """The series shows a regression without being its first."""
    every = [one for one in asked(history, "regressions?limit=500")["items"]
             if one["state"] not in ("dismissed", "merged")]
    series = next(one["series"][-1]["series"] for one in every if len(one["series"]) > 1)
    its = {f"#/regressions/{one['id']}" for one in every
           if series in (shown["series"] for shown in one["series"])}
    assert len(its) < len(every)
    visit(browser, history, f"series/{series}")
    assert its == set(browser.wait(lambda: browser.run("""
        return [...document.querySelectorAll("section")].find((one) =>
            one.querySelector("h2")?.textContent === "Regressions of this series")
            ?.querySelectorAll("tbody a[href^='#/regressions/']").values()
            .map((a) => a.getAttribute("href")).toArray()""")))


def test_a_point_leads_to_its_commit_session_machine_and_raw_samples(browser, history, addresses):
    browser.show()
    visit(browser, history, addresses["one series"])
    found = history_of(history, addresses["one series"].split("/")[1])
    points = found["points"]
    browser.wait(lambda: browser.run(
        "return document.querySelector('.detail a[href^=\"#/nights\"]') !== null"))
    targets = browser.run("""return [...document.querySelectorAll(".detail a")]
        .map((a) => a.getAttribute("href"))""")
    for start in ("#/commits/", "#/compare?bad=", "#/nights?night=", "#/builds?day="):
        assert any(target.startswith(start) for target in targets), start
    runner = next(r["name"] for r in found["runners"] if r["id"] == points["runner"][-1])
    assert f"on {runner}, " in browser.run("return document.querySelector('.detail').textContent")
    browser.run("document.querySelector('.detail button').click()")
    shown = browser.wait(lambda: browser.run("""
        const runs = [...document.querySelectorAll(".samples path.raw")];
        return runs.length > 0
          && runs.map((run) => run.getAttribute("d").split("M").length - 1)"""))
    assert len(shown) == points["runs"][-1] and min(shown) > 1


def test_a_hundred_thousand_points_are_a_few_paths_with_every_extreme(browser, history):
    """By the page's own module, on a series that is made up."""
    browser.show()
    visit(browser, history, "nothing")
    elements, least, most, labels = browser.run("""
        const { seriesPlot } = await import("/series_plot.js");
        const size = 100000, many = (of) => Array.from({ length: size }, (_, i) => of(i));
        const values = Float64Array.from(many((i) => (i === 4321 ? 3 : i === 98765 ? 0.5 : 1)));
        const build = many((i) => i + 1);
        const made = { series: { id: 1, metric: "latency", unit: "s", workload: 1, machine: 1,
          workload_name: "python/dlrm/eval/cpu/fp32/b64/eager", direction: "lower_is_better" },
          size, build, version: many((i) => `v${i}`), day: build, runs: many(() => 5),
          job: many(() => null), runner: many(() => null), factsId: many(() => null),
          lock: many(() => null), location: values, low: values, high: values, noise: 0.01,
          level: values.map(() => 1), indexOf: new Map(build.map((b, i) => [b, i])),
          without: [{ night: 1, build: 1, day: 50, reason: "-" }], facts: [], runners: [],
          locks: [] };
        const place = document.querySelector("main section");
        place.replaceChildren(...seriesPlot([made]));
        for (let i = 0; i < 300 && !place.querySelector(".path.dense"); ++i) {
          await new Promise((done) => setTimeout(done, 20));
        }
        const heights = place.querySelector(".path.dense").getAttribute("d")
          .match(/[,V][0-9.]+/g).map((text) => Number(text.slice(1)));
        return [place.querySelectorAll("svg *").length, Math.max(...heights),
          Math.min(...heights), [...place.querySelectorAll(".chart.pan text")]
            .map((one) => one.textContent)];""")
    assert elements < 100
    assert least - most > 200  # the dip and the peak are one point each
    assert {"1", "2", "3"} <= set(labels)


def test_nothing_moves_while_somebody_reads(browser, history, addresses):
    """What is newer announces itself, and is shown when the reader asks."""
    visit(browser, history, addresses["culprit"])
    browser.run("""
        const ask = window.fetch;
        window.fetch = async (path, options) => {
          const answer = await ask(path, options);
          if (!/regressions\\/\\d+$/.test(path)) return answer;
          const body = await answer.json();
          return new Response(JSON.stringify({ ...body, state: "recovered" }));
        };""")
    browser.run("document.dispatchEvent(new Event('visibilitychange'))")
    browser.wait(lambda: browser.run("return !document.getElementById('fresh').hidden"))
    heading = "return document.querySelector('h2').textContent"
    assert "It is recovered now" in browser.run(
        "return document.getElementById('fresh').textContent")
    assert "recovered" not in browser.run(heading)
    browser.run("document.querySelector('#fresh button').click()")
    assert "recovered" in browser.run(heading)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.picture)
def test_a_question_is_answered_in_two_clicks(browser, history, question):
    assert len(question.clicks) <= 2
    browser.show()
    visit(browser, history, "")
    browser.complaints()
    walk(browser, question, settle)
    assert browser.complaints() == []


def test_the_walk_in_the_documents_is_the_one_that_is_tested():
    text = (ROOT / "docs" / "questions.md").read_text()
    assert re.findall(r"pictures/questions/([a-z-]+)\.png", text) == [
        q.picture for q in QUESTIONS]
    for question in QUESTIONS:
        assert question.source in text


def test_where_the_time_went_is_told_as_a_picture_and_a_table(browser, history, addresses):
    browser.show()
    visit(browser, history, addresses["profiled"])
    bars = browser.run("return document.querySelectorAll('svg rect.flame.more').length")
    assert bars > 0
    assert "aten::" in browser.run(
        "return [...document.querySelectorAll('td code')].map((c) => c.textContent).join()")


def test_kernels_that_changed_stand_beside_the_operators(browser, history, addresses):
    browser.show()
    visit(browser, history, addresses["profiled on a GPU"])
    number = addresses["profiled on a GPU"].split("/")[1]
    with urllib.request.urlopen(f"{history.url}/api/v1/regressions/{number}/profile",
                                timeout=30) as answer:
        difference = json.load(answer)["difference"]
    clear = [one for one in difference["kernels"] if one["clear"]]
    heads, rows = browser.run("""
        const table = [...document.querySelectorAll('table')].find((t) =>
          t.querySelector('caption')?.textContent.startsWith('Kernels, by operator'));
        const cells = (row) => [...row.children].map((cell) => cell.textContent);
        return [cells(table.querySelector('thead tr')),
          [...table.querySelectorAll('tbody tr')].map(cells)]""")
    assert heads == ["kernels of", "before", "after", "difference", "of the change", "calls"]
    assert [row[0] for row in rows] == [one["operator"] for one in clear]
    for row, one in zip(rows, clear):
        slower = one["after"]["seconds"] > one["before"]["seconds"]
        assert row[3].startswith("+" if slower else "−"), row
        assert row[4] == f"{round(100 * one['share'])}\u00a0%"
    # A long name is cut where it has no room, and shown whole on hover.
    cut = browser.run("""
        const name = [...document.querySelectorAll('td code.subject')][0];
        name.textContent = name.title = "aten::".padEnd(300, "a_long_name");
        const row = name.closest("td");
        return [getComputedStyle(name).textOverflow, name.scrollWidth > name.clientWidth,
          document.documentElement.scrollWidth <= innerWidth, row.textContent.length >= 300]""")
    assert cut == ["ellipsis", True, True, True]


def test_where_it_was_not_seen_is_told(browser, history, addresses):
    visit(browser, history, addresses["culprit"])
    told = browser.run("return [...document.querySelectorAll('section')]"
                       ".find((s) => s.textContent.startsWith('Where it was looked for'))"
                       ".textContent")
    assert "other series of this night" in told


def test_what_got_worse_with_a_finding_that_joined_is_told(browser, history, addresses):
    """By the page's own module, on an answer of the service with such a finding put into it."""
    number = int(addresses["culprit"].split("/")[1])
    visit(browser, history, addresses["culprit"])
    told = browser.run("""
        const answer = await (await fetch(`/api/v1/regressions/${arguments[0]}/extent`)).json();
        answer.beside = [{ metric: "failures", version: "2.15.0.dev20260821+cu130",
          worse: [{ series: 1, workload: arguments[1], machine: 2, ratio: 1.25 }],
          unclear: 0 }];
        const { extent } = await import("/extent.js");
        const asked = window.fetch;
        window.fetch = async () => new Response(JSON.stringify(answer));
        const section = extent({ id: arguments[0] }, []);
        for (let i = 0; i < 200 && section.querySelector(".later:empty"); ++i) {
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        window.fetch = asked;
        const table = [...section.querySelectorAll("table")].at(-1);
        return [table.caption.textContent, table.querySelector("tbody").textContent]""",
                       number, "python/dlrm/eval/cuda/fp32/b64/eager")
    assert told[0] == ("Worse, too, in failures with 2.15.0.dev20260821+cu130, where this cause "
                       "was found again, and not measured side by side")
    assert "dlrm eval" in told[1]


def test_machine_classes_of_a_regression_stand_in_a_table(browser, history, addresses):
    visit(browser, history, addresses["culprit"])
    rows = browser.run("""return [...[...document.querySelectorAll('section')]
        .find((s) => s.textContent.startsWith('Machine classes')).querySelectorAll('tbody tr')]
        .map((row) => [...row.querySelectorAll('td, th')].map((cell) => cell.textContent))""")
    number = addresses["culprit"].split("/")[1]
    with urllib.request.urlopen(f"{history.url}/api/v1/regressions/{number}",
                                timeout=30) as answer:
        classes = json.load(answer)["classes"]
    words = ["seen", "looked for and not seen", "not looked for"]
    assert len(rows) == len(classes) > 1
    told = [words.index(row[2]) for row in rows]
    assert told == sorted(told) and told[0] == 0
    assert all((row[5] == "–") == (row[2] != "seen") for row in rows)


def test_the_morning_has_all_that_is_open_or_waits_however_old_it_is(browser, two_years):
    visit(browser, two_years, "")
    told = browser.run("return Object.fromEntries([...document.querySelectorAll('main section')]"
                       ".map((one) => [one.querySelector('h2')?.textContent,"
                       " one.querySelectorAll('tbody tr').length]))")
    searches = asked(two_years, "bisections?limit=500&state=open")["items"]
    assert searches and told["Being searched"] == len(searches)
    newest = asked(two_years, "bisections?limit=50")["items"]
    assert searches[-1]["id"] < newest[-1]["id"], "an older one is the hard case"
    waits = [one for state in ("blamed", "range", "unattributed", "unconfirmed")
             for one in asked(two_years, f"regressions?limit=500&state={state}")["items"]]
    assert told["Waits for a person"] == len(waits)


def test_what_keeps_a_first_night_from_starting_is_told_once(browser, history):
    """By the page's own module: beside its step, or above the steps if that one is done."""
    visit(browser, history, "")
    told = browser.run("""
        const { page } = await import("/pages/morning.js");
        const data = { ...await page.load(), nights: [], runners: [], ready: { ready: true,
          detail: "", obstacles: ["source", "runner", "report"].map((kind) =>
            ({ kind, reason: `no ${kind} yet` })) } };
        const text = (more) => page.view({ ...data, ...more }).flat(Infinity).filter(Boolean)
          .map((node) => node.textContent).join();
        return [text({ builds: [] }), text({})].map((shown) =>
          data.ready.obstacles.map((o) => shown.split(o.reason).length - 1))""")
    assert told == [[1, 1, 1], [1, 1, 1]]


def test_another_project_has_its_name_and_no_pages_of_pytorch(browser, history):
    visit(browser, history, "")
    name, pages = browser.run("""
        const { introduce } = await import("/header.js"), ask = window.fetch;
        window.fetch = async (path, ...more) => (!path.endsWith("v1/about") ? ask(path, ...more)
          : new Response(JSON.stringify({ project: "vision", package: "torchvision",
              is_pytorch: false, role: "none" })));
        await introduce();
        return [document.querySelector("h1").textContent,
          [...document.querySelectorAll("nav a")].filter((one) => one.checkVisibility())
            .map((one) => one.textContent)]""")
    assert name == "Nightjar vision"
    assert pages == ["Morning", "Changes", "Series", "Compare", "Nights", "Machines", "Builds"]


def test_a_search_for_a_fix_speaks_of_no_good_or_bad_end(browser, history, addresses):
    visit(browser, history, addresses["search for a fix"])
    told = browser.run("return document.querySelector('main').textContent")
    assert "Made better by" in told and "first better" in told
    assert "good end" not in told and "first bad" not in told and "culprit" not in told
    visit(browser, history, addresses["search"])
    told = browser.run("return document.querySelector('main').textContent")
    assert "good end" in told and "first bad" in told


def test_who_may_have_repaired_a_regression_is_told_with_the_commit(browser, history):
    repairs = asked(history, "repairs?limit=500")["items"]
    repair = next(r for r in repairs if r["bisection"])
    sha = repair["commits"][0]["sha"]
    assert asked(history, f"repairs?limit=500&commit={sha}")["items"] == [
        one for one in repairs if sha in [commit["sha"] for commit in one["commits"]]]
    visit(browser, history, f"commits/{sha}")
    told = browser.run("return document.querySelector('main section').textContent")
    assert f"repaired regression {repair['regression']}, as a search named it" in told


def test_the_improvements_that_a_commit_is_named_for_are_asked_for_by_it(history):
    improvements = asked(history, "improvements?limit=500")["items"]
    named = {sha for one in improvements for cause in one["made_better"] if not cause["range"]
             for sha in cause["commits"]}
    assert named
    for sha in named:
        assert asked(history, f"improvements?limit=500&commit={sha}")["items"] == [
            one for one in improvements
            if any(sha in cause["commits"] and not cause["range"] for cause in one["made_better"])]


@pytest.fixture(scope="module")
def far_apart(history):
    """A comparison in which more is worse than a page shows at first: good=..&bad=.."""
    builds = [b["id"] for b in asked(history, "builds?kind=nightly&limit=500")["items"]
              if b["state"] == "proved"]
    pairs = (f"good={good}&bad={bad}" for bad in builds[:3] for good in reversed(builds))
    return next(pair for pair in pairs
                if asked(history, f"compare?{pair}&limit=1&least=1")["total"]["worse"] > 20)


def test_a_comparison_shows_the_largest_change_first_and_more_behind_a_button(browser, history,
                                                                             far_apart):
    found = asked(history, f"compare?{far_apart}&least=1&standing=worse&limit=500")["items"]
    visit(browser, history, f"compare?{far_apart}&least=1")
    rows = "main section:nth-of-type(2) tbody tr"
    names = "return [...document.querySelectorAll(arguments[0])].map((one) => one.title)"
    assert browser.run(names, f"{rows} .workload") == [s["workload"] for s in found[:20]]
    while len(texts(browser, rows)) < len(found):
        shown = len(texts(browser, rows))
        browser.run("document.querySelector('main section:nth-of-type(2) td')"
                    ".closest('section').querySelector(':scope > div > button').click()")
        browser.wait(lambda: len(texts(browser, rows)) > shown)
    assert browser.run(names, f"{rows} .workload") == [s["workload"] for s in found]


def test_a_comparison_is_narrowed_by_words_of_the_workload(browser, history, far_apart):
    visit(browser, history, f"compare?{far_apart}")
    browser.run("document.getElementById('words').focus()")
    browser.press(*"eager", "Enter")
    browser.wait(lambda: "words=eager" in browser.run("return location.hash"))
    settle(browser)
    shown = browser.run("return [...document.querySelectorAll('main td .workload')]"
                        ".map((one) => one.title)")
    assert shown and all("eager" in name for name in shown)
    visit(browser, history, f"compare?{far_apart}&words=no-such-model")
    assert "No series that fits" in browser.run("return document.querySelector('main').textContent")
    assert texts(browser, "main h2") == ["Compare two builds"]


def test_what_is_alike_is_asked_for_when_it_is_unfolded(browser, history, far_apart):
    total = asked(history, f"compare?{far_apart}&limit=1")["total"]
    visit(browser, history, f"compare?{far_apart}")
    folded = "main section:last-of-type details"
    assert texts(browser, f"{folded} summary") == [f"{total['alike']} alike"]
    assert texts(browser, f"{folded} tbody tr") == []
    browser.run(f"document.querySelector('{folded}').open = true")
    browser.wait(lambda: texts(browser, f"{folded} tbody tr") != [])
    browser.run(f"document.querySelector('{folded}').open = false")


def test_a_group_of_a_comparison_leads_to_its_series(browser, history, far_apart):
    groups = asked(history, f"compare/groups?{far_apart}&by=domain")["items"]
    visit(browser, history, f"compare?{far_apart}&by=domain")
    links = "main section:nth-of-type(4) tbody td:first-child a"
    assert texts(browser, links) == [group["name"] for group in groups]
    browser.run(f"document.querySelector('{links}').click()")
    told = f"{groups[0]['worse']} worse, {groups[0]['better']} better, {groups[0]['alike']} alike"
    browser.wait(lambda: told in "".join(texts(browser, "main .lead")))
    assert "domain=" in browser.run("return location.hash")


def test_a_comparison_is_saved_as_a_whole(browser, history, far_apart):
    total = asked(history, f"compare?{far_apart}&limit=1")["total"]
    visit(browser, history, f"compare?{far_apart}")
    browser.run("""
        window.saved = [];
        URL.createObjectURL = (blob) => { window.saved.push(blob); return "#"; };
        HTMLAnchorElement.prototype.click = () => {};
        [...document.querySelectorAll("main button")]
          .find((one) => one.textContent === "Save all as CSV").click();""")
    browser.wait(lambda: browser.run("return window.saved.length") == 1)
    text = browser.run("return window.saved[0].text()")
    assert len(text.splitlines()) == 1 + sum(total[word] for word in ("worse", "better", "alike"))


def test_an_improvement_that_is_a_repair_says_of_which_regression(browser, history):
    items = asked(history, "improvements?limit=500")["items"]
    repaired = {str(item["repairs"]) for item in items if item["repairs"]}
    assert repaired
    visit(browser, history, "changes?days=365")
    rows = browser.run("""return [...document.querySelectorAll(
        "main section:nth-of-type(3) td[data-name=what] a")].map((one) => one.hash)""")
    assert sorted(rows) == sorted(set(rows))  # one row a regression
    assert rows and {row.split("/")[-1] for row in rows} <= repaired
    visit(browser, history, max(rows).removeprefix("#/"))
    browser.wait(lambda: browser.run("return document.getElementById('back') !== null"))
    back = browser.run("return document.getElementById('back').textContent")
    assert re.match(r"Back at its level: [1-9]\d* of [1-9]\d* series, since \S+", back)
    # Builds of another project may have no date: they are named by their versions.
    builds = browser.run("""
        const { page } = await import("/pages/changes.js");
        const query = new URLSearchParams("days=365"), data = await page.load("", query);
        for (const one of data.improvements) one.build = { ...one.build, date: null };
        return [...page.view(data, "", query).at(-1).querySelectorAll("td[data-name=build]")]
          .map((cell) => cell.textContent)""")
    assert builds and all("+" in version for version in builds)


def test_the_direction_that_the_service_gives_decides_the_colour(browser, history):
    """By the pages' own modules: also of metrics that no page knows."""
    items = asked(history, "improvements?limit=500")["items"]
    assert items and {item["direction"] for item in items} <= {"lower_is_better",
                                                              "higher_is_better"}
    visit(browser, history, "changes?days=365")
    shown = browser.run("""return [...document.querySelectorAll(
        "main section:nth-of-type(3) .change")].map((one) => one.className)""")
    assert shown and not any("worse" in name for name in shown)
    told = browser.run("""const { tone } = await import("/parts.js");
        const rise = (direction, metric) =>
          tone({ metric, direction, has_ratio: true, low: 1.1, high: 1.2 });
        return ["compression_ratio", "imported_rate", "speedup", "of_tomorrow"].map((metric) =>
          [rise("higher_is_better", metric), rise("lower_is_better", metric)])""")
    assert told == [["better", "worse"]] * 4
    told = browser.run("""const { tone } = await import("/parts.js");
        const { machineName } = await import("/words.js");
        return [tone({ metric: "imported_value", direction: "unknown", has_ratio: false, before: 1,
            after: 2 }),
          machineName({ id: 3, facts: { imported: "A100 of the lab" } })]""")
    assert told == [None, "A100 of the lab"]


@pytest.mark.parametrize("address", ["changes?days=365&all=yes", "series?", "roofline?"])
def test_a_page_is_filtered_by_domain(browser, history, address):
    domain = asked(history, "profiles?limit=1")["items"][0]["domain"]
    chosen = f"domain={urllib.parse.quote(domain)}"
    visit(browser, history, f"{address}&{chosen}")
    assert browser.run("return document.getElementById('domain').value") == domain
    fit = {w["name"] for w in asked(history, "workloads?limit=500")["items"]
           if w["domain"] == domain}
    # A regression is named by its first series, and found by any.
    fit |= {r["series"][0]["workload"]
            for r in asked(history, f"regressions?limit=500&{chosen}")["items"]}
    shown = browser.run("return [...document.querySelectorAll('main td .workload')]"
                        ".map((one) => one.title)")
    assert set(shown) <= fit


def test_what_runs_out_of_memory_stands_in_its_cell(browser, history):
    visit(browser, history, "vision?task=eval")
    cells = browser.run("return [...document.querySelectorAll('td .worse')]"
                        ".map((c) => c.textContent)")
    assert "out of memory" in cells
    assert browser.run("return document.querySelector('#task').value") == "eval"


def test_suites_are_shown_over_nights_with_the_nights_in_which_members_changed(browser, history):
    backend = "backend=inductor-reduce-overhead"
    with urllib.request.urlopen(f"{history.url}/api/v1/suites?limit=500&{backend}",
                                timeout=30) as answer:
        suites = json.load(answer)["items"]

    def key(s):
        return "/".join(str(s[part]) for part in ("machine", "variant", "suite", "task", "device",
                                                  "precision", "backend"))
    changed = {}
    for s in suites:
        others = s["speedup"]["came"] + s["speedup"]["went"] > 0
        changed[key(s)] = changed.get(key(s), 0) + others
    most = max(changed, key=changed.get)
    assert changed[most] > 0
    browser.show()
    visit(browser, history, f"compilers?{backend}&of=" + urllib.parse.quote(most, safe=""))
    assert browser.run("return document.querySelectorAll('td svg.suite').length") == len(changed)
    nights = [s for s in suites if key(s) == most]
    chart = "section .chart.still svg"
    assert browser.run(f"return document.querySelectorAll('{chart} circle.point').length") == len(
        nights)
    assert browser.run(f"return document.querySelectorAll('{chart} .explained').length") == changed[
        most]
    newest = max(nights, key=lambda s: s["started_at"])
    told = browser.run("return document.querySelector('main').textContent")
    assert f"{newest['passed']} of {newest['models']} " in told
    assert f"over {newest['speedup']['members']}" in told
    assert newest["speedup"]["reason"] in told
    words = browser.run("""return [...document.querySelectorAll('td[data-name=accuracy]')]
        .map((cell) => cell.textContent)""")
    assert "pass" in words and "OOM" in words


@pytest.mark.first
def test_a_decision_needs_a_token_of_an_admin_and_changes_nothing_without(browser, history,
                                                                        addresses):
    visit(browser, history, addresses["suspected"])
    browser.run("""
        document.querySelector("#decision").closest("details").open = true;
        document.getElementById("reason").value = "noise";
        document.getElementById("admin-token").value = "wrong";
        document.querySelector(".triage button").click();""")
    said = browser.wait(lambda: browser.run(
        "return document.getElementById('decided').textContent"))
    assert said.startswith("Nothing was changed.")
    browser.complaints()  # the browser notes the 401


def test_a_search_is_widened_by_keyboard_and_the_page_keeps_what_it_had_found(browser, own_history):
    def get(path):
        with urllib.request.urlopen(f"{own_history.url}/api/v1/{path}", timeout=30) as answer:
            return json.load(answer)

    def field(name):
        browser.run("document.getElementById(arguments[0]).focus()", name)
    search = next(b for b in get("bisections?limit=100")["items"]
                  if b["regression"] and b["state"] in ("inconclusive", "range"))
    browser.show()
    visit(browser, own_history, f"regressions/{search['regression']}")
    browser.run("document.querySelector('#decision').closest('details').querySelector('summary')"
                ".focus()")
    browser.press("Enter")
    field("decision")
    browser.press("W")
    shown = """return [...document.querySelectorAll(".triage label")]
        .filter((label) => label.checkVisibility()).map((label) => label.firstChild.textContent)"""
    assert browser.wait(lambda: browser.run(shown))[2:7] == [
        "Begin earlier by this number of nightlies", "Or at this build", "More runs",
        "More minutes of measuring", "Smallest change to blame, in %"]
    browser.run(AXE.read_text())
    assert {look: complaints_of(browser, look) for look in LOOKS} == {look: [] for look in LOOKS}
    browser.show()
    for name, keys in (("reason", "slow before"), ("nightlies", "60"),
                       ("admin-token", own_history.admin)):
        field(name)
        browser.press(*keys)
    said = "return document.getElementById('decided').textContent"
    browser.press("Enter")
    browser.wait(lambda: browser.run(said).startswith("Nothing was changed. There are too few"))
    field("nightlies")
    browser.run("document.getElementById('nightlies').select()")
    browser.press("1", "Enter")
    browser.wait(lambda: browser.run(said).startswith("Done."))
    assert any("422" in one for one in browser.complaints())  # the browser notes the refusal

    wider = get(f"bisections/{search['id']}")
    assert wider["good"]["date"] < search["good"]["date"]
    for page in (f"regressions/{search['regression']}", f"bisections/{search['id']}"):
        visit(browser, own_history, page)
        told = browser.run("return document.querySelector('main').textContent")
        assert "Taken up again" in told and "slow before" in told
        assert search["good"]["version"] in told
        browser.run(AXE.read_text())
        assert complaints_of(browser, "phone") == []
        browser.show()
    assert browser.complaints() == []


def test_a_session_tells_what_its_machine_was_and_what_had_changed(browser, history):
    def get(path):
        with urllib.request.urlopen(f"{history.url}/api/v1/{path}", timeout=30) as answer:
            return json.load(answer)
    session = next(j for j in get("jobs?limit=200")["items"]
                   if j["kind"] == "screen" and j["state"] == "done")
    known = get(f"jobs/{session['id']}")
    browser.show()
    visit(browser, history, f"nights?night={session['night']}")
    browser.run("""[...document.querySelectorAll("main td a")]
        .find((a) => a.textContent === arguments[0]).click()""", str(session["id"]))
    browser.wait(lambda: f"session={session['id']}" in browser.run("return location.hash"))
    settle(browser)
    told = browser.wait(lambda: browser.run("""return [...document.querySelectorAll("h2")]
        .find((h) => h.textContent.startsWith("Session "))?.parentElement.textContent"""))
    assert known["facts"]["facts"]["kernel"] in told and "governor" in told
    assert known["facts_changed"] and known["facts_changed"] in told
    assert "CPU clock" in told
    assert known["controls"] and "How far the machine moved" in told and "the processor" in told
    restless = next(n for n in get("nights?limit=9")["items"] if n["build"] and n["reason"])
    visit(browser, history, f"nights?night={restless['id']}")
    settle(browser)
    assert restless["reason"] in browser.run("return document.querySelector('main').textContent")
    browser.run(AXE.read_text())
    assert {look: complaints_of(browser, look) for look in LOOKS} == {look: [] for look in LOOKS}
    assert browser.complaints() == []


def test_machines_say_how_often_verdicts_were_right(browser, history):
    with urllib.request.urlopen(f"{history.url}/api/v1/trust", timeout=30) as answer:
        trust = json.load(answer)
    bins = [b for s in trust["searches"] for b in s["bins"] if b["cases"]]
    assert len(trust["verdicts"]) > 5 and len(bins) > 5
    browser.show()
    visit(browser, history, "machines")
    shown = browser.run("""return [...document.querySelectorAll("main td > div")]
        .map((cell) => cell.textContent)""")
    alarms = trust["verdicts"][0]["false_alarms"]
    assert any(cell.startswith(f"{alarms['hits']} of {alarms['cases']} (at most ")
               for cell in shown)
    for one in bins:
        assert any(cell.startswith(f"{one['right']} of {one['cases']} (") for cell in shown)
    browser.run("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    for width in (1120, 800):
        browser.show((width, 900))
        assert browser.run("await new Promise(requestAnimationFrame);"
                           "return document.documentElement.scrollWidth") <= width
    browser.run("document.querySelectorAll('details').forEach((fold) => { fold.open = false; })")
    planted = browser.run("""return [...document.querySelectorAll(
        "td[data-name='planted and seen'] div div")].map((one) => one.textContent)""")
    assert planted and all(re.match(r"\d+\.\d\u00a0%: ", one) for one in planted)
    drawn = browser.run("return document.querySelectorAll('main .chart circle.point').length")
    assert drawn == len(bins)
    assert "a person said the cause: Not measured yet" in browser.run(
        "return document.querySelector('main').textContent")


def test_what_is_shown_can_be_saved(browser, history, addresses):
    visit(browser, history, addresses["one series"])
    browser.wait(lambda: browser.run(
        "return document.querySelector('main .chart > svg') !== null"), what="a chart")
    browser.run("document.querySelector('#saving details').open = true")
    browser.wait(lambda: browser.run("return document.querySelector('#saving button') !== null"))
    browser.run("""
        window.saved = [];
        URL.createObjectURL = (blob) => { window.saved.push(blob); return "#"; };
        HTMLAnchorElement.prototype.click = () => {};
        document.querySelectorAll("#saving button").forEach((button) => button.click());""")
    files = browser.run("return Promise.all(window.saved.map((blob) => blob.text()))")
    tables = [f for f in files if not f.startswith("<svg")]
    points = next(t for t in tables if t.startswith("build,location"))
    assert len(points.splitlines()) > 20  # all of them, with raw numbers
    assert float(points.splitlines()[1].split(",")[1]) > 0
    assert any(f.startswith("<svg") and "stroke=" in f for f in files)
    cells = ["=1", "＋1", "-1+cmd", "\t@a", "-1.5 %", "+3", "a\rb", None, -2]
    written = browser.run(
        "return import('./words.js').then(({ csv }) => csv([arguments[0]]))", cells)
    assert written == "'=1,'＋1,'-1+cmd,'\t@a,-1.5 %,+3,\"a\rb\",,-2\n"


def test_an_event_of_the_service_makes_the_page_look(browser, history):
    """The stream of events is read; what it says is looked at soon, long before the next poll."""
    browser.open(f"{history.url}/#/machines")
    settle(browser)
    browser.run("""
        window.asked = 0;
        const ask = window.fetch;
        window.fetch = (...all) => { ++window.asked; return ask(...all); };""")
    request = urllib.request.Request(f"{history.url}/api/v1/nights", b"{}", method="POST",
                                     headers={"Authorization": f"Bearer {history.admin}",
                                              "Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=30).close()
    browser.wait(lambda: browser.run("return window.asked > 0"), 10, "the page to look")


def test_a_printed_page_has_its_content_only(browser, history, addresses):
    visit(browser, history, addresses["culprit"])
    browser.devtools("Emulation.setEmulatedMedia", media="print")
    hidden = browser.run("""return ["header nav", "#find", "#saving", "footer", "form"].every(
        (s) => [...document.querySelectorAll(s)].every((n) => n.offsetParent === null))""")
    browser.devtools("Emulation.setEmulatedMedia", media="")
    assert hidden


def modules_of(script):
    """It, and all that it imports at once."""
    found, asked = set(), [script]
    while asked:
        script = asked.pop()
        if script not in found:
            found.add(script)
            asked += [(script.parent / name).resolve()
                      for name in re.findall(r'from "(\..+?\.js)"', script.read_text())]
    return found


def test_each_page_s_script_is_small():
    ui = (ROOT / "web" / "ui").resolve()
    pages = sorted((ui / "pages").glob("*.js"))
    assert len(pages) > 12
    for page in pages:
        scripts = modules_of(ui / "app.js") | modules_of(page)
        assert sum(file.stat().st_size for file in scripts) < 150_000, page
