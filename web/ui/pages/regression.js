// Regression: is this accusation right? The picture first, then what it rests on.

import { all, get, list, machines } from "../api.js";
import { column, copyable, el, failure, fold, link, longTable, note, number, saveText, section,
  state, table, version, when, whole } from "../dom.js";
import { extent } from "../extent.js";
import { changeWithin, className, effectWords, factsOf, issue, leadOf, madeBetter, progress,
  verdict, workload } from "../parts.js";
import { profileDifference } from "../profile_difference.js";
import { runsChart } from "../runs_chart.js";
import { seriesHistory } from "../series_history.js";
import { seriesPlot } from "../series_plot.js";
import { stepChart } from "../step_chart.js";
import { triage } from "../triage.js";
import { takenUpAgain } from "../widening.js";
import { change, count, duration, interval, metricName, probability, quantity } from "../words.js";

const ofStage = (r, stage) => r.changes.map((c) => c.evidence).filter((e) => e.stage === stage)
  .at(-1);

const columns = [
  whole("series", (s) => workload(s.workload, `#/series/${s.series}`)),
  column("metric", (s) => metricName(s.metric)),
  number("before", (s) =>
    quantity(s.before, s.unit, Math.max(s.before, s.after))),
  number("after", (s) =>
    quantity(s.after, s.unit, Math.max(s.before, s.after))),
  number("change", changeWithin),
];

const results = { seen: "seen", not_seen: "looked for and not seen",
  not_looked_for: "not looked for" };

const classColumns = [
  whole("machine class", (c) => c.name),
  column("CPU", (c) => c.cpu ?? "–"),
  column("result", (c) => results[c.state]),
  number("change", (c) => (c.ratio === null ? "–" : change(c.ratio))),
  number("95 % interval", (c) => (c.low === null || c.low === c.high ? "–"
    : interval(c.low, c.high))),
  column("first seen", (c) => (c.first_seen === null ? "–"
    : link(`#/nights?night=${c.first_seen}`, `night ${c.first_seen}`)))];

/** Which machine classes show it; nothing where there is one only. */
function machineClasses(r, known) {
  if (r.classes.length < 2) return null;
  const order = Object.keys(results);
  const named = r.classes.map((c) => ({ ...c, name: className(known, c.machine),
    cpu: c.gpu && known.find((m) => m.id === c.machine)?.facts.cpu_model }));
  named.sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  return section("Machine classes", longTable("Seen: both builds side by side. Not seen: the "
    + "largest change of the night's screening", classColumns, named));
}

/** What both builds side by side gave, where that took the first size back. */
function takenBack(r) {
  const confirmed = ofStage(r, "confirmation");
  if (r.effect.source !== "screening" || !confirmed?.ratio) return "";
  return `; not confirmed: ${change(confirmed.ratio)} (${
    interval(confirmed.low, confirmed.high)}) with both builds side by side`;
}

/** Why it is as it is, where no commit is named. An issue's title says nothing of that. */
function reason(r) {
  const why = r.changes.findLast((c) => c.state !== "reported" && c.rule)?.rule;
  return !r.culprit && why && [el("dt", {}, "Why"), el("dd", {}, why)];
}

/** "Back at its level: 2 of 3 series, since 2.14.0.dev20260820 by abc". Fills itself, as the lists
 * of improvements may be long. */
function repairs(r) {
  const place = el("div", {});
  all(`improvements?since=${r.opened_at}&machine=${r.machine}`, 5000).then((better) => {
    const back = better.filter((i) => i.repairs === r.id);
    if (back.length === 0) return;
    const causes = back.find((i) => i.made_better.length > 0)?.made_better ?? [];
    place.replaceChildren(el("p", { id: "back" }, "Back at its level: ",
      `${new Set(back.map((i) => i.series)).size} of ${count(r.series.length, "series", "series")}`,
      ", since ", version(back[0].build.version), causes.length > 0 && " by ",
      madeBetter(causes)));
  }, () => {});
  return place;
}

function head(r) {
  return section(["Regression ", r.id, " ", state(r.state)],
    el("p", { class: "lead" }, verdict(r)),
    el("dl", { class: "facts" },
      el("dt", {}, "Size"), el("dd", { id: "size" }, changeWithin(leadOf(r)), ", ",
        effectWords[r.effect.source], takenBack(r)),
      reason(r),
      el("dt", {}, "Between"), el("dd", {}, version(r.good.version), " and ",
        version(r.bad.version), " ",
        link(`#/compare?good=${r.good.id}&bad=${r.bad.id}`, "compare the two builds")),
      el("dt", {}, "Issue"), el("dd", {}, issue(r)),
      r.merged_into && [el("dt", {}, "Same cause as"),
        el("dd", {}, link(`#/regressions/${r.merged_into}`, `regression ${r.merged_into}`))],
      el("dt", {}, "Seen"), el("dd", {}, when(r.opened_at), ", last change ", when(r.updated_at),
        ` (${duration(r.opened_at, r.updated_at)} later)`)), repairs(r));
}

const around = (history, r) => section("The series around it", history === null
  ? note("The series cannot be shown.")
  : seriesPlot([history], { regressions: [r], id: "around", around: r.bad.id }));

function picture({ bisection, history }, r) {
  if (bisection) {
    return section(["Level by commit ", state(bisection.state)],
      note("Each commit's level against the good end; the step is the size above."),
      stepChart(bisection, r.effect.source === "search" ? r.effect.ratio : null),
      progress(bisection), note(link(`#/bisections/${bisection.id}`, "All of this search")));
  }
  return around(history, r);
}

function distributions(r, unit) {
  const confirmed = ofStage(r, "confirmation");
  if (!confirmed?.good?.length || !confirmed.bad?.length) return null;
  const side = (name) => confirmed[name].map((value, i) =>
    ({ value, order: confirmed[`${name}_runs`]?.[i] ?? i }));
  return section("Run by run", el("p", {}, "The confirmation, which measured both builds side by ",
    "side", r.effect.source === "search" ? " before the search" : "", ": ", confirmed.rule ?? ""),
    runsChart({ good: side("good"), bad: side("bad") }, unit));
}

function attribution(r) {
  const whose = r.attribution;
  if (!whose) return null;
  const part = (of) => `${change(of.ratio)} (${interval(of.low, of.high)})`;
  const item = (what, of) => of && [el("dt", {}, what), el("dd", {}, part(of))];
  const rule = (stage) => ofStage(r, stage)?.rule;
  const others = [whose.environment && "the packages", whose.wheel && "the wheel"].filter(Boolean);
  return section(`The source or ${others.join(" or ") || "the packages"}?`,
    [rule("attribution"), rule("wheels")].filter(Boolean).map((text) => el("p", {}, text)),
    el("dl", { class: "facts" }, item("The source alone", whose.source),
      item("The packages alone", whose.environment), item("The wheel alone", whose.wheel),
      whichPackage(r)),
    whose.environment && note("Each wheel was measured with both sets of packages, alternately."),
    rule("wheels") && note("Each end's Python files were measured on both wheels, alternately."),
    wheelDifferences(r), r.package_searches.map(packageSearch));
}

/** What the wheels tell of how they were made, where the wheel did it. */
function wheelDifferences(r) {
  if (r.wheel_differences.length === 0) return null;
  return [el("p", {}, "What differs between the wheels, as far as they tell:"),
    el("ul", {}, r.wheel_differences.map((line) => el("li", {}, line)))];
}

/** Items of a list: the package that did it, and the commits that moved its pin. */
function whichPackage(r) {
  return [r.packages?.said && [el("dt", {}, "Which package"), el("dd", {}, r.packages.said)],
    r.packages?.left_out.map((why) => [el("dt", {}, "Left out"), el("dd", {}, why)]),
    r.pins.map((pin) => [el("dt", {}, "Where the pin moved"), el("dd", {},
      link(`#/commits/${pin.commit}`, el("code", {}, pin.commit.slice(0, 12))), " ",
      el("code", {}, pin.path))])];
}

const questions = { packages: "Which package", partner: "Does it need another one",
  versions: "Which version" };

/** One search over a chain of environments, a line each. */
function packageSearch(search, number) {
  const mass = (at) => search.posterior.filter((cell) => cell.first <= at && at <= cell.last)
    .reduce((sum, cell) => sum + cell.probability, 0);
  const rows = search.mixes.map((mix, at) => ({ ...mix, at }));
  return fold(`packages-${number}`, [`${questions[search.question]}? `, state(search.state)],
    el("p", {}, search.rule ?? ""), note(`${search.runs} runs in ${search.sessions} sessions`),
    table(null, [
      { name: "up to", whole: true, cell: (row) => (row.at === 0 ? "the good end"
        : `${row.package} ${row.version || "removed"}`) },
      { name: "probability", number: true, cell: (row) => (row.at === 0 ? "–"
        : probability(mass(row.at))) },
      { name: "state", whole: true, cell: (row) => row.reason
        ?? row.state.replaceAll("_", " ") }], rows));
}

const verifyCommand = (id) =>
  `curl -s ${location.origin}/api/v1/regressions/${id}/evidence | nightjar verify -`;

function saveEvidence(id) {
  const said = el("span", { class: "soft" }, " all samples and rules");
  const save = async () => {
    try {
      const text = JSON.stringify(await get(`regressions/${id}/evidence`), null, 1);
      saveText(text, `regression-${id}.json`, "application/json");
    } catch (error) {
      said.replaceChildren(failure("Cannot be saved.", error));
    }
  };
  return el("p", {}, el("button", { type: "button", onclick: save }, "Save the evidence"), said);
}

/** The commands of the issue, which the service has written for exactly these builds. */
function reproduce(r, reports) {
  const written = reports.find((m) => m.kind === "open_issue");
  if (written?.commands.length > 0) return written.commands.map((block) => copyable(block.trim()));
  return note(written || r.issue_number !== null ? "Its issue has no commands."
    : r.progress === "running" ? "Commands come with the issue, which is not written yet."
      : "Commands come with an issue, and this regression has none.");
}

function trust(r, reports) {
  return section("Is it true?", el("h3", {}, "Judge it again from the raw samples"),
    copyable(verifyCommand(r.id)), saveEvidence(r.id),
    el("h3", {}, "Measure it yourself"), reproduce(r, reports));
}

const evidence = (c, i) => (Object.keys(c.evidence).length === 0 ? "–"
  : [c.rule,
    fold(`evidence-${i}`, "all of it", el("pre", { tabindex: 0 },
      JSON.stringify(c.evidence, null, 1)))]);

const historyOf = (r, reports) => section("History", table(null, [
  column("state", (c) => state(c.state)), column("when", (c) => when(c.at)),
  whole("why", (c) => evidence(c, r.changes.indexOf(c)))], r.changes),
reports.map((m) => fold(`report-${m.kind}`,
  [`${m.kind.replaceAll("_", " ")}: ${m.title ?? ""} `, state(m.state)],
  m.error && el("p", { class: "error" }, m.error), el("pre", { tabindex: 0 }, m.body))));

export const page = {
  title: (id) => `Regression ${id}`,
  async load(id) {
    const r = await get(`regressions/${id}`);
    const lead = r.series[0].series;
    const [reports, bisection, known, profile, history] = await Promise.all([
      list(`reports?regression=${id}`).catch(() => []),
      r.bisection ? get(`bisections/${r.bisection}`).catch(() => null) : null,
      machines(),
      get(`regressions/${id}/profile`).catch(() => null),
      seriesHistory(lead).catch(() => null)]);
    return { r, reports, bisection, known, profile, history };
  },
  view: (data) => {
    const { r, reports, bisection, known, profile, history } = data;
    const machine = known.find((m) => m.id === r.machine);
    return [head(r), picture(data, r), bisection && takenUpAgain(bisection), attribution(r),
      distributions(r, r.series[0].unit),
      section("What it changed", table(r.effect.source === "screening"
        ? "In the night that suspected it" : "Each series with both builds side by side", columns,
      r.series)), machineClasses(r, known),
      profileDifference(profile),
      bisection && around(history, r),
      extent(r, known), trust(r, reports), historyOf(r, reports),
      machine && section("Measured on", factsOf(machine)), triage(r, bisection)];
  },
  news: (before, now) => (before.r.state !== now.r.state
    ? `It is ${now.r.state} now` : "There are new results of this regression"),
};
