// The overview: regressions, bisections in progress, runners, nights. Each card loads and fails
// alone.

import { get, list, post, readiness } from "./api.js";
import { duration, el, failure, link, metricName, namedCommit, note, probability, state, table,
  when,
  workloadName } from "./dom.js";
import { changeOf, issue, progress } from "./pages.js";
import { posteriorChart } from "./posterior_chart.js";

const shownBisections = 4;

async function openBisections() {
  const open = (await list("bisections?limit=50")).filter((b) => b.state === "open");
  return Promise.all(open.slice(0, shownBisections).map((b) => get(`bisections/${b.id}`)));
}

const culprit = (r) => (r.culprit
  ? [namedCommit(r.culprit.commit_details[0]), r.culprit.commits.length > 1
    ? ` or ${r.culprit.commits.length - 1} next` : "",
    ` ${probability(r.culprit.probability)}`]
  : r.range ? `within ${r.range.commits.length} commits` : "–");

const regressions = (items) => (items.length === 0
  ? note("None yet. A regression appears here when a night's value is suspicious, and is ",
    "confirmed before anybody is blamed.")
  : table(null, [
    { name: "regression", whole: true, cell: (r) =>
      [link(`#/regressions/${r.id}`,
        `${workloadName(r.series[0].workload)}: ${metricName(r.series[0].metric)}`),
      " ", changeOf(r.series[0]), r.series.length > 1
        ? el("span", { class: "soft" }, ` and ${r.series.length - 1} more`) : ""] },
    { name: "state", cell: (r) => state(r.state) },
    { name: "culprit", whole: true, cell: culprit },
    { name: "first bad", tight: true, cell: (r) => r.bad.date ?? r.bad.version },
    { name: "issue", cell: issue },
    { name: "changed", tight: true, cell: (r) => when(r.updated_at) },
  ], items));

const bisections = (items) => (items.length === 0 ? note("None in progress.")
  : items.map((b) => [el("h3", {}, link(`#/bisections/${b.id}`, `Bisection ${b.id}`)), progress(b),
    posteriorChart(b)]));

function runnerState(r) {
  if (!r.live) return el("span", { class: "state bad" }, "silent");
  if (r.quarantined_until) {
    return el("span", { class: "state bad" },
      `no jobs until ${r.quarantined_until.slice(11, 16)} UTC`);
  }
  return el("span", { class: "state good" }, r.job ? "busy" : "idle");
}

const runners = (items) => (items.length === 0
  ? note("No runner has registered. Start one: ",
    el("code", {}, "nightjar-runner --service URL --token-file FILE"))
  : table(null, [
    { name: "runner", cell: (r) => el("span", { class: "name" }, r.name) },
    { name: "state", cell: (r) => [runnerState(r), r.trouble ? note(r.trouble) : null] },
    { name: "job", cell: (r) => r.job ?? "–" },
    { name: "machine", cell: (r) => r.machine.facts.cpu_model ?? `class ${r.machine.id}` },
    { name: "seen", tight: true, cell: (r) => when(r.seen_at) },
  ], items));

const nights = (items) => (items.length === 0
  ? note("No night yet. One starts when a new build appears, or by ",
    el("code", {}, "POST /api/v1/nights"), ".")
  : table(null, [
    { name: "build", tight: true, cell: (n) =>
      (n.build ? el("code", {}, n.build.version) : n.reason ?? "waiting for a build") },
    { name: "state", cell: (n) => state(n.state) },
    { name: "by", cell: (n) => n.trigger },
    { name: "begun", tight: true, cell: (n) => when(n.started_at) },
    { name: "took", cell: (n) => (n.finished_at && n.trigger !== "imported" ? duration(n.started_at, n.finished_at) : "–") },
  ], items));

const shownJobs = 20;

async function openJobs() {
  const states = ["leased", "queued"];
  const lists = await Promise.all(
    states.map((s) => list(`jobs?state=${s}&limit=${shownJobs}`)));
  return lists.flat();
}

async function cancelJob(job) {
  const token = window.prompt(`Cancel job ${job.id}? It takes a token of the role admin:`);
  if (!token) return;
  try {
    await post(`jobs/${job.id}/cancel`, token.trim());
  } catch (error) {
    window.alert(`Job ${job.id} was not cancelled. ${error.message}`);
  }
}

const jobs = (items) => (items.length === 0 ? note("None waits or is measured.")
  : table(null, [
    { name: "job", cell: (j) => j.id },
    { name: "for", cell: (j) => j.kind },
    { name: "state", cell: (j) => [state(j.state), j.reason ? note(j.reason) : null] },
    { name: "since", tight: true, cell: (j) => when(j.created_at) },
    { name: "", cell: (j) => el("button", { type: "button", onclick: () => cancelJob(j) },
      "Cancel") },
  ], items));

const obstacles = (now) => [
  now.ready ? null : failure("The service cannot work.", { message: now.detail }),
  now.obstacles.length === 0 ? null
    : el("div", { class: "error", role: "alert" }, el("strong", {}, "No night can start:"),
      el("ul", {}, now.obstacles.map((o) => el("li", {}, `${o.kind}: ${o.reason}`)))),
];

const cards = [
  { title: "Regressions", load: () => list("regressions?limit=25"), view: regressions },
  { title: "Bisections in progress", load: openBisections, view: bisections },
  { title: "Nights", load: () => list("nights?limit=10"), view: nights },
  { title: "Jobs", load: openJobs, view: jobs },
  { title: "Runners", load: () => list("runners?limit=50"), view: runners },
];

export const overviewPage = {
  title: () => "Overview",
  async load() {
    const results = await Promise.allSettled([...cards.map((card) => card.load()), readiness()]);
    const refused = results.find((r) => r.reason && [0, 401, 403].includes(r.reason.status));
    if (refused) throw refused.reason;
    return results.map(
      (r) => ({ items: r.value, error: r.reason && { message: r.reason.message } }));
  },
  view: (data) => {
    const drawn = cards.map((card, i) => el("section", {}, el("h2", {}, card.title),
      data[i].error ? failure("Cannot be shown.", data[i].error) : card.view(data[i].items)));
    const now = data[cards.length].items;
    return [...(now ? obstacles(now) : []).filter(Boolean), drawn[0], drawn[1],
      el("div", { class: "columns" }, drawn.slice(2))];
  },
};
