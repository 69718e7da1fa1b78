// Morning: what is new since the reader last looked, what is being searched, what waits for a
// person, and what stands in the way. Quiet when nothing happened.

import { all, get, isAdmin, list, post, readiness } from "../api.js";
import { firstRun, isFirstRun, otherObstacles } from "../first_run.js";
import { column, el, failure, fold, lead, link, longTable, namedCommit, note, number,
  section, state, strong, table, tight, version, when, whole } from "../dom.js";
import { minutesToGo, regressionColumns, regressionLink, workload } from "../parts.js";
import { cellsOf } from "../step_chart.js";
import { count, duration, machineName, metricName, probability, span } from "../words.js";

const lookedName = "nightjar-looked";
const newDays = 3;
const receivers = { chat: "the chat", verdict: "the export" };

/** When the reader last pressed "seen"; before the first time, the beginning of a day. */
const lookedAt = () => localStorage.getItem(lookedName)
  ?? `${new Date(Date.now() - newDays * 86400000).toISOString().slice(0, 10)}T00:00:00Z`;

const searchesShown = 8;

/** One sentence that answers "is something wrong?". */
function summary({ changed, improvements, nights, since, hasLooked }) {
  const fresh = changed.filter((r) => r.opened_at >= since && r.counted);
  const blamed = fresh.filter((r) => r.culprit);
  const better = new Set(improvements.map((i) => i.night)).size;
  const last = nights.find((n) => n.state !== "cancelled" && n.build);
  if (isFirstRun({ nights }) && changed.length === 0) {
    return lead("No night has ended yet, so nothing was judged.");
  }
  return lead(fresh.length === 0 ? "Nothing new broke"
    : [strong(count(fresh.length, "new regression")),
      blamed.length > 0 ? ` (${blamed.length} with a culprit)` : ""],
  hasLooked ? ` since you looked (${duration(since, new Date())} ago)`
    : ` in the last ${newDays} days`, better > 0
    ? `; something got better in ${count(better, "night")}` : "",
  last ? [". The newest night measured ", version(last.build.version), " and is ",
    state(last.state), last.finished_at ? ` (${duration(last.started_at, last.finished_at)})` : "",
    "."] : ".");
}

function news(data) {
  const { since } = data, counted = data.changed.filter((r) => r.counted);
  const [fresh, moved] = [true, false].map((is) => counted.filter((r) =>
    (r.opened_at >= since) === is));
  const seen = el("button", { type: "button", id: "seen", onclick: () => {
    localStorage.setItem(lookedName, new Date().toISOString());
    seen.replaceWith(el("span", { class: "soft", role: "status" }, "Marked as seen."));
  } }, "Mark as seen");
  return section(data.hasLooked ? "New since you looked" : "New", summary(data),
    fresh.length > 0 && table(null, regressionColumns, fresh),
    moved.length > 0 && table(`${count(moved.length, "older regression")} of which something `
      + "changed", regressionColumns, moved),
    el("p", {}, counted.length > 0 && [seen, " "], link("#/changes", "All changes")));
}

/** The likeliest place as the search sees it, in words. */
function likeliest(b) {
  const best = cellsOf(b).reduce((a, c) => (c.probability > (a?.probability ?? 0) ? c : a), null);
  if (!best) return "nothing yet";
  const wide = best.last - best.first + 1;
  return wide > 1 ? `one of ${wide} commits, ${probability(best.probability)}`
    : [probability(best.probability), " ", namedCommit(b.commits[best.last])];
}

const searchColumns = [
  whole("search", (b) => [workload(b.workload, `#/bisections/${b.id}`),
    ` ${metricName(b.metric)}`]),
  whole("likeliest", likeliest),
  number("measured", (b) => `${b.tested_commits} of ${b.commit_count}`),
  number("spent", (b) => span(b.spent_seconds)),
  number("to go, roughly", (b) => {
    const minutes = minutesToGo(b);
    return minutes ? span(minutes * 60) : "not known yet";
  })];

const searches = ({ open, more }) => section("Being searched", open.length === 0
  ? note("No search is open.") : table(null, searchColumns, open),
more > 0 && note(`${count(more, "more search", "more searches")}.`));

function forPeople({ cases, failed }) {
  if (cases.length + failed.length === 0) return note("Nothing waits for you.");
  return [cases.length > 0 && [note("Each says why it waits. What a person can do is at its end."),
    longTable(null, regressionColumns, cases)],
    failed.map((m) => el("p", { class: "error" },
      `A message to ${receivers[m.kind] ?? "the tracker"} failed: ${m.error ?? ""} `,
      m.regression !== null && regressionLink(m.regression)))];
}

/** What stops work: the service's own words first, then runners. */
function obstacles(data) {
  const { ready, runners } = data;
  const inTheWay = isFirstRun(data) ? otherObstacles(data) : ready.obstacles;
  const silent = runners.filter((r) => !r.live), troubled = runners.filter((r) =>
    r.live && r.quarantined_until);
  return [!ready.ready && failure("The service cannot work.", { message: ready.detail }),
    inTheWay.length > 0 && el("div", { class: "error", role: "alert" },
      strong(inTheWay.every((o) => o.kind === "report")
        ? "Nobody gets some reports:" : "No night can start:"),
      el("ul", {}, inTheWay.map((o) => el("li", {}, `${o.kind}: ${o.reason}`)))),
    silent.map((r) => el("p", { class: "warning" }, link("#/machines", r.name),
      ` (${machineName(r.machine)}) was last seen `, when(r.seen_at),
      r.trouble && `: ${r.trouble}`)),
    troubled.map((r) => el("p", { class: "warning" }, link("#/machines", r.name),
      ` gets no jobs until ${r.quarantined_until.slice(11, 16)} UTC: ${r.trouble}`))];
}

async function cancelJob(job) {
  if (!window.confirm(`Cancel job ${job.id}?`)) return;
  try {
    await post(`jobs/${job.id}/cancel`);
  } catch (error) {
    window.alert(`Job ${job.id} was not cancelled. ${error.message}`);
  }
}

const jobColumns = () => [
  number("job", (j) => j.id),
  column("for", (j) => j.kind),
  column("state", (j) => [state(j.state), j.reason && ` ${j.reason}`]),
  whole("workload", (j) => (j.workloads.length === 1
    ? workload(j.workloads[0]) : j.kind === "build" ? "a wheel from source"
      : count(j.workloads.length, "workload"))),
  tight("since", (j) => when(j.created_at)),
  isAdmin() && column("", (j) => el("button", { type: "button", onclick: () => cancelJob(j),
    "aria-label": `Cancel job ${j.id}` }, "Cancel"))].filter(Boolean);

const work = (jobs) => section("Measured now or waiting", jobs.length === 0
  ? note("No job waits or is measured.") : table(null, jobColumns(), jobs));

async function openSearches() {
  const open = await all("bisections?state=open");
  return { more: Math.max(open.length - searchesShown, 0),
    open: await Promise.all(open.slice(0, searchesShown).map((b) => get(`bisections/${b.id}`))) };
}

const openJobs = async () =>
  (await Promise.all(["leased", "queued"].map((s) => list(`jobs?state=${s}&limit=20`)))).flat();

export const page = {
  title: () => "Morning",
  async load() {
    const since = lookedAt();
    const [builds, changed, improvements, nights, searched, cases, under, failed, runners, jobs,
      ready] = await Promise.all([list("builds?kind=nightly&limit=20"),
      all(`regressions?changed_since=${since}`), all(`improvements?since=${since}`),
      list("nights?limit=5"), openSearches(), all("regressions?progress=waiting"),
      all("regressions?progress=running"),
      all("reports?state=failed"), list("runners?limit=200"), openJobs(), readiness()]);
    // A runner's heartbeat is no news.
    const quiet = runners.map((r) => (r.live ? { ...r, seen_at: null } : r));
    return { since, hasLooked: localStorage.getItem(lookedName) !== null, builds, changed,
      improvements, nights, ...searched, cases, under, failed,
      runners: quiet, jobs, ready };
  },
  view(data) {
    return [obstacles(data), isFirstRun(data) && firstRun(data),
    news(data), section("Waits for a person", forPeople(data)), searches(data),
    data.under.length > 0 && fold("passing", `${count(data.under.length, "regression")
    } being confirmed, searched or reported`,
    section(null, longTable(null, regressionColumns, data.under))),
    work(data.jobs)];
  },
  news(before, now) {
    const changed = now.changed.filter((r) => !before.changed.some((old) =>
      old.id === r.id && old.updated_at === r.updated_at)).length;
    return changed > 0 ? count(changed, "new result") : "There is something new";
  },
};
