// One search: which commits were measured, which could not be, and how it narrowed.

import { get, list } from "../api.js";
import { el, link, namedCommit, note, section, state, table } from "../dom.js";
import { againstGoodEnd, progress } from "../parts.js";
import { stepChart } from "../step_chart.js";
import { count, quantity } from "../words.js";

const commitColumns = (b) => [
  { name: "commit", whole: true, cell: namedCommit },
  { name: "runs", number: true, cell: (c) => c.runs },
  { name: "level", number: true, cell: (c) => (c.level === null ? "–"
    : quantity(c.level, b.unit)) },
  { name: "against the good end", number: true, cell: againstGoodEnd },
  { name: "cannot be measured", cell: (c) => c.untestable ?? "–" },
  { name: "built from source", cell: (c) => (c.build_log
    ? link(c.build_log.replace(/^\//, ""), "log") : "–") },
];

/** A session in words: "done on runner 1", and which jobs it took. */
const jobsOf = (s) => [...new Set(s.jobs.map((j) => j.state))].map((name) => {
  const some = s.jobs.filter((j) => j.state === name);
  return [state(name), ` ${count(some.length, "job")} `];
});

const sessionColumns = [
  { name: "session", number: true, cell: (s) => s.session },
  { name: "for", cell: (s) => (s.jobs[0].kind === "confirm" ? "confirming" : "searching") },
  { name: "jobs", cell: jobsOf },
  { name: "runs", number: true, cell: (s) => s.jobs.reduce((n, j) => n + j.runs, 0) },
];

export const bisectionPage = {
  title: (id) => `Search ${id}`,
  async load(id) {
    const b = await get(`bisections/${id}`);
    const r = await get(`regressions/${b.regression}`);
    const runs = r.changes.findLast((c) => c.evidence.stage === "bisection")?.evidence.runs ?? [];
    const jobs = b.state === "open" ? await list("jobs?state=leased") : [];
    return { b, runs, jobs };
  },
  view: ({ b, runs, jobs }) => {
    const own = new Set(b.sessions.flatMap((s) => s.jobs.map((j) => j.job)));
    const running = jobs.filter((j) => own.has(j.id));
    return [section([`Search ${b.id} `, state(b.state)], stepChart(b, runs), progress(b),
      running.length > 0 && note(`Job ${running.map((j) => j.id).join(", ")} measures for it now.`),
      el("p", {}, link(`#/regressions/${b.regression}`, `Regression ${b.regression}`), ", from ",
        el("code", {}, b.good.version), " to ", el("code", {}, b.bad.version))),
    section("Measured commits", table("Oldest first", commitColumns(b),
      b.commits.filter((c) => c.runs > 0 || c.untestable))),
    section("Sessions", b.sessions.length === 0 ? note("None yet.")
      : table(null, sessionColumns, b.sessions))];
  },
  news: () => "The search has measured more",
};
