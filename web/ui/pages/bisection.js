// One search: which commits were measured, which could not be, and how it narrowed.

import { get, list } from "../api.js";
import { column, el, link, namedCommit, note, number, section, state, table, version, whole
  } from "../dom.js";
import { againstReference, madeBetter, progress } from "../parts.js";
import { endsOf, stepChart } from "../step_chart.js";
import { takenUpAgain } from "../widening.js";
import { count, quantity } from "../words.js";

const commitColumns = (b) => [
  whole("commit", namedCommit),
  number("runs", (c) => c.runs),
  number("level", (c) => (c.level === null ? "–"
    : quantity(c.level, b.unit))),
  number(`against ${endsOf(b).reference}`, againstReference),
  column("cannot be measured", (c) => c.untestable ?? "–"),
  column("built from source", (c) => (c.build_log
    ? link(c.build_log.replace(/^\//, ""), "log") : "–")),
];

/** A session in words: "done on runner 1", and which jobs it took. */
const jobsOf = (s) => [...new Set(s.jobs.map((j) => j.state))].map((name) => {
  const some = s.jobs.filter((j) => j.state === name);
  return [state(name), ` ${count(some.length, "job")} `];
});

const sessionColumns = [
  number("session", (s) => s.session),
  column("for", (s) => (s.jobs[0].kind === "confirm" ? "confirming" : "searching")),
  column("jobs", jobsOf),
  number("runs", (s) => s.jobs.reduce((n, j) => n + j.runs, 0)),
];

export const page = {
  title: (id) => `Search ${id}`,
  async load(id) {
    const b = await get(`bisections/${id}`);
    const jobs = b.state === "open" ? await list("jobs?state=leased") : [];
    return { b, jobs };
  },
  view: ({ b, jobs }) => {
    const own = new Set(b.sessions.flatMap((s) => s.jobs.map((j) => j.job)));
    const running = jobs.filter((j) => own.has(j.id));
    return [section([`Search ${b.id} `, state(b.regression === null && b.state === "culprit"
      ? "named" : b.state)], stepChart(b), progress(b),
      running.length > 0 && note(`Job ${running.map((j) => j.id).join(", ")} measures for it now.`),
      el("p", {}, b.regression === null ? "What made it better"
        : link(`#/regressions/${b.regression}`, `Regression ${b.regression}`), ", from ",
      version(b.good.version), " to ", version(b.bad.version)),
      b.made_better.length > 0 && el("p", {}, "Made better by ", madeBetter(b.made_better))),
    takenUpAgain(b),
    section("Measured commits", table("Oldest first", commitColumns(b),
      b.commits.filter((c) => c.runs > 0 || c.untestable))),
    section("Sessions", b.sessions.length === 0 ? note("None yet.")
      : table(null, sessionColumns, b.sessions))];
  },
  news: () => "The search has measured more",
};
