// Regression: is this accusation right? The picture first, then what it rests on.

import { all, get, list } from "../api.js";
import { copyable, el, failure, fold, link, note, saveText, section, state, table,
  when } from "../dom.js";
import { changeWithin, issue, progress, tone, verdict, workload } from "../parts.js";
import { runsChart } from "../runs_chart.js";
import { seriesPlot } from "../series_plot.js";
import { stepChart } from "../step_chart.js";
import { change, duration, interval, metricName, probability, quantity } from "../words.js";

const ofStage = (r, stage) => r.changes.map((c) => c.evidence).filter((e) => e.stage === stage)
  .at(-1);

/** Runs of a search that has not ended: its verdict, which would list them, is not there yet. */
async function runsOf(bisection) {
  const index = new Map(bisection.commits.map((c) => [c.sha, c.index]));
  const jobs = bisection.sessions.flatMap((s) => s.jobs.map((j) => ({ ...j, session: s.session })));
  const lists = await Promise.all(jobs.map((j) => list(`runs?job=${j.job}&limit=500`)));
  const builds = new Map();
  await Promise.all([...new Set(lists.flat().map((r) => r.build).filter(Boolean))]
    .map(async (id) => {
      const build = await get(`builds/${id}`);
      const isEnd = build.kind !== "crossed" || build.id === bisection.bad.id;
      if (isEnd) builds.set(id, index.get(build.commit));
    }));
  return lists.flatMap((runs, i) => runs
    .filter((r) => r.build && builds.has(r.build) && r.values[bisection.metric] !== undefined)
    .map((r) => ({ session: jobs[i].session, commit: builds.get(r.build),
      value: r.values[bisection.metric] })));
}

/** The same two builds in every series: where the change is seen, and where not. */
async function elsewhere(r) {
  const { items } = await get(`compare?good=${r.good.id}&bad=${r.bad.id}`);
  const shown = new Set(r.series.map((s) => s.series));
  const model = r.series[0].workload.split("/")[1];
  return items.filter((s) => s.metric === r.series[0].metric && !shown.has(s.series)
    && s.workload.split("/")[1] === model);
}

async function machineOf(r) {
  const runners = await list("runners?limit=500");
  return runners.find((one) => one.machine.id === r.machine)?.machine ?? null;
}

const columns = [
  { name: "series", whole: true, cell: (s) => workload(s.workload, `#/series/${s.series}`) },
  { name: "metric", cell: (s) => metricName(s.metric) },
  { name: "before", number: true, cell: (s) =>
    quantity(s.before, s.unit, Math.max(s.before, s.after)) },
  { name: "after", number: true, cell: (s) =>
    quantity(s.after, s.unit, Math.max(s.before, s.after)) },
  { name: "change", number: true, cell: changeWithin },
];

function head(r) {
  return section(["Regression ", r.id, " ", state(r.state)],
    el("p", { class: "lead" }, verdict(r)),
    el("dl", { class: "facts" },
      el("dt", {}, "Between"), el("dd", {}, el("code", {}, r.good.version), " and ",
        el("code", {}, r.bad.version), " ",
        link(`#/compare?good=${r.good.id}&bad=${r.bad.id}`, "compare the two builds")),
      el("dt", {}, "Issue"), el("dd", {}, issue(r)),
      r.merged_into && [el("dt", {}, "Same cause as"),
        el("dd", {}, link(`#/regressions/${r.merged_into}`, `regression ${r.merged_into}`))],
      el("dt", {}, "Seen"), el("dd", {}, when(r.opened_at), ", last change ", when(r.updated_at),
        ` (${duration(r.opened_at, r.updated_at)} later)`)));
}

function picture({ bisection, runs, series, points }, r) {
  if (bisection) {
    return section(["Level by commit ", state(bisection.state)], stepChart(bisection, runs),
      progress(bisection), note(link(`#/bisections/${bisection.id}`, "All of this search")));
  }
  return section("The series around it", seriesPlot([{ series, points }], { regressions: [r],
    id: "around", around: r.bad.id }));
}

function distributions(r, unit) {
  const confirmed = ofStage(r, "confirmation");
  if (!confirmed?.good?.length || !confirmed.bad?.length) return null;
  const side = (name) => confirmed[name].map((value, i) =>
    ({ value, order: confirmed[`${name}_runs`]?.[i] ?? i }));
  return section("Run by run", el("p", {}, confirmed.rule ?? ""),
    runsChart({ good: side("good"), bad: side("bad") }, unit));
}

/** Where the ends have different packages: each wheel was measured with both, two by two. */
function attribution(r) {
  const whose = r.attribution;
  if (!whose) return null;
  const part = (of) => `${change(of.ratio)} (${interval(of.low, of.high)})`;
  return section("The source or the packages?", el("p", {}, ofStage(r, "attribution")?.rule ?? ""),
    el("dl", { class: "facts" }, el("dt", {}, "The source alone"), el("dd", {}, part(whose.source)),
      el("dt", {}, "The packages alone"), el("dd", {}, part(whose.environment)), whichPackage(r)),
    note("Each wheel was measured with both sets of packages, in turns."),
    r.package_searches.map(packageSearch));
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

function seen(others) {
  const shows = others.filter((s) => tone(s) === "worse"), rest = others.filter(
    (s) => tone(s) !== "worse");
  if (others.length === 0) {
    return note("No other series of this model was measured on both builds.");
  }
  return [shows.length > 0 && table("Seen here, too", columns, shows),
    shows.length === 0 && el("p", {}, "Not seen in any other series of this model:"),
    rest.length > 0 && fold("not-seen", `Not seen in ${rest.length} of ${others.length}`,
      table(null, columns, rest))];
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
function reproduce(reports) {
  const body = reports.find((m) => m.kind === "open_issue")?.body ?? "";
  const commands = [...(body.split("## Reproduce")[1]?.split("\n## ")[0] ?? "")
    .matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1].trim());
  return commands.length === 0
    ? note("Commands come with the issue, which is not written yet.")
    : commands.map(copyable);
}

function trust(r, reports) {
  return section("Is it true?", el("h3", {}, "Judge it again from the raw samples"),
    copyable(verifyCommand(r.id)), saveEvidence(r.id),
    el("h3", {}, "Measure it yourself"), reproduce(reports));
}

function environment(machine) {
  if (!machine) return null;
  const known = Object.entries(machine.facts).filter(([, value]) => value !== "none");
  const isPackage = ([name]) => name.startsWith("package ");
  const facts = (rows) => el("dl", { class: "facts" }, rows.map(([name, value]) =>
    [el("dt", {}, name.replaceAll("_", " ")), el("dd", {}, value)]));
  const packages = known.filter(isPackage);
  return section("Measured on", facts(known.filter((fact) => !isPackage(fact))),
    packages.length > 0 && fold("packages", `${packages.length} packages of its Python`,
      facts(packages)));
}

const evidence = (c, i) => (Object.keys(c.evidence).length === 0 ? "–"
  : [c.evidence.rule ?? c.evidence.reason ?? c.evidence.title ?? "",
    fold(`evidence-${i}`, "all of it", el("pre", { tabindex: 0 },
      JSON.stringify(c.evidence, null, 1)))]);

const historyOf = (r, reports) => section("History", table(null, [
  { name: "state", cell: (c) => state(c.state) }, { name: "when", cell: (c) => when(c.at) },
  { name: "why", whole: true, cell: (c) => evidence(c, r.changes.indexOf(c)) }], r.changes),
reports.map((m) => fold(`report-${m.kind}`,
  [`${m.kind.replaceAll("_", " ")}: ${m.title ?? ""} `, state(m.state)],
  m.error && el("p", { class: "error" }, m.error), el("pre", { tabindex: 0 }, m.body))));

export const regressionPage = {
  title: (id) => `Regression ${id}`,
  async load(id) {
    const r = await get(`regressions/${id}`);
    const lead = r.series[0].series;
    const [reports, bisection, others, machine, series, points] = await Promise.all([
      list(`reports?regression=${id}`).catch(() => []),
      r.bisection ? get(`bisections/${r.bisection}`).catch(() => null) : null,
      elsewhere(r).catch(() => []), machineOf(r).catch(() => null), get(`series/${lead}`),
      all(`series/${lead}/points`, 1).catch(() => [])]);
    const said = ofStage(r, "bisection")?.runs;
    const runs = said ?? (bisection ? await runsOf(bisection).catch(() => []) : []);
    return { r, reports, bisection, runs, others, machine, series, points };
  },
  view: (data) => {
    const { r, reports, bisection, others, machine, series, points } = data;
    return [head(r), picture(data, r), attribution(r), distributions(r, r.series[0].unit),
      section("What it changed", table(null, columns, r.series)),
      bisection && section("The series around it", seriesPlot([{ series, points }],
        { regressions: [r], id: "around", around: r.bad.id })),
      section("Where it is and is not seen", seen(others)), trust(r, reports),
      historyOf(r, reports), environment(machine)];
  },
  news: (before, now) => (before.r.state !== now.r.state
    ? `It is ${now.r.state} now` : "There are new results of this regression"),
};
