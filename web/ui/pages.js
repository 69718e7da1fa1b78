// The pages but the overview: each is {title, load(...arguments) → data, view(data) → nodes}.

import { get, list, save } from "./api.js";
import { change, commit, el, failure, interval, link, metricName, namedCommit, note, probability,
  quantity,
  state, table, when, workloadName } from "./dom.js";
import { posteriorChart } from "./posterior_chart.js";
import { seriesChart } from "./series_chart.js";

export const noRatio = (metric) =>
  ["leaked_memory", "leaked_gpu_memory", "graph_breaks", "recompiles"].includes(metric);

/** "+23 %" in the colour of worse or better. */
export function changeOf(s) {
  if (noRatio(s.metric)) {
    const text = quantity(s.after - s.before, s.unit);
    return el("span", { class: s.after > s.before ? "worse" : "better" },
      s.after > s.before ? "+" : "", text);
  }
  if (s.unit === "outcome") return el("span", { class: s.after > s.before ? "worse" : "better" },
    quantity(s.after, s.unit));
  const [above, below] = s.direction === "higher_is_better" ? ["better", "worse"]
    : ["worse", "better"];
  const tone = s.low > 1 ? above : s.high < 1 ? below : null;
  return el("span", { class: tone }, change(s.ratio));
}

/** A measured commit's level against the good end's, with its interval. */
export const againstGoodEnd = (c) => (c.index === 0 ? "the good end" : !c.change ? "–"
  : `${change(c.change.ratio)} (${interval(c.change.low, c.change.high)})`);

/** An issue on the web is a link; a dry run's is a file. */
export function issue(regression) {
  if (!regression.issue_url) return "–";
  const name = `#${regression.issue_number ?? "?"}`;
  return /^https?:\/\//.test(regression.issue_url) ? link(regression.issue_url, name)
    : el("code", { title: regression.issue_url }, regression.issue_url.split("/").pop());
}

const seriesColumns = [
  { name: "workload", whole: true, cell: (s) =>
    link(`#/series/${s.series}`, el("code", {}, s.workload)) },
  { name: "metric", cell: (s) => metricName(s.metric) },
  { name: "before", number: true, cell: (s) =>
    quantity(s.before, s.unit, Math.max(s.before, s.after)) },
  { name: "after", number: true, cell: (s) =>
    quantity(s.after, s.unit, Math.max(s.before, s.after)) },
  { name: "change", number: true, cell: changeOf },
  { name: "95 % interval", number: true, cell: (s) =>
    (noRatio(s.metric) ? "–" : interval(s.low, s.high)) },
];

function verdict(r) {
  const lead = r.series[0];
  const what =
    [el("strong", {}, `${workloadName(lead.workload)}: ${metricName(lead.metric)} `,
      changeOf(lead)),
    r.series.length > 1 ? ` and ${r.series.length - 1} more series` : ""];
  if (r.range) {
    const among = r.range.commit_details;
    return [what, ` within ${among.length} commits, `, namedCommit(among[0]),
      among.length > 1 ? [" to ", namedCommit(among.at(-1))] : "",
      "; which one is not known, and nobody is blamed"];
  }
  if (!r.culprit) return [what, " between ", el("code", {}, r.good.version), " and ",
    el("code", {}, r.bad.version), r.state === "historical"
      ? "; from an imported history, nothing was measured side by side, and nobody is blamed" : ""];
  const commits = r.culprit.commit_details;
  const together = r.changes.some((c) => c.evidence.outcome === "several_small");
  const who = commits.length === 1 ? namedCommit(commits[0])
    : together ? commits.flatMap((one, i) => [i === 0 ? "" : ", ", namedCommit(one)])
      .concat(" together")
    : [`one of ${commits.length} adjacent commits, `, namedCommit(commits[0]), " to ",
      namedCommit(commits.at(-1))];
  return [what, " since ", who, `, ${probability(r.culprit.probability)} certain`];
}

const evidence = (c) => (Object.keys(c.evidence).length === 0 ? "–" : el("details", {},
  el("summary", {}, c.evidence.rule ?? "evidence"),
  el("pre", {}, JSON.stringify(c.evidence, null, 2))));

function evidenceButton(id) {
  const said = el("span", { class: "soft" }, " all samples, for nightjar verify");
  const ask = () => save(`regressions/${id}/evidence`, `regression-${id}.json`)
    .catch((error) => said.replaceChildren(failure("Cannot be saved.", error)));
  return [el("button", { onclick: ask }, "Save the evidence"), said];
}

export const regressionPage = {
  title: (id) => `Regression ${id}`,
  async load(id) {
    const regression = await get(`regressions/${id}`);
    const [reports, bisection] = await Promise.all(
      [list(`reports?regression=${id}`).catch(() => []),
      regression.bisection ? get(`bisections/${regression.bisection}`).catch(() => null) : null]);
    return { regression, reports, bisection };
  },
  view: ({ regression: r, reports, bisection }) => [
    el("section", {}, el("h2", {}, `Regression ${r.id} `, state(r.state)),
      el("p", { class: "lead" }, verdict(r)),
      el("dl", { class: "facts" },
        el("dt", {}, "Last good"),
        el("dd", {}, el("code", {}, r.good.version), " ", commit(r.good.commit)),
        el("dt", {}, "First bad"),
        el("dd", {}, el("code", {}, r.bad.version), " ", commit(r.bad.commit)),
        el("dt", {}, "Issue"), el("dd", {}, issue(r)),
        el("dt", {}, "Evidence"), el("dd", {}, evidenceButton(r.id)),
        r.merged_into && [el("dt", {}, "Same cause as"),
          el("dd", {}, link(`#/regressions/${r.merged_into}`, `regression ${r.merged_into}`))],
        el("dt", {}, "Seen"),
        el("dd", {}, when(r.opened_at), ", last change ", when(r.updated_at))),
      table("What it changed", seriesColumns, r.series)),
    bisection && el("section", {}, el("h2", {}, "Search for the culprit ", state(bisection.state)),
      progress(bisection),
      posteriorChart(bisection),
      note(link(`#/bisections/${bisection.id}`, "All of this bisection"))),
    el("section", {}, el("h2", {}, "History"), table(null, [
      { name: "state", cell: (c) => state(c.state) }, { name: "when", cell: (c) => when(c.at) },
      { name: "evidence", whole: true, cell: evidence }], r.changes)),
    el("section", {}, el("h2", {}, "Reports"), reports.length === 0
      ? note("Nothing was reported yet.")
      : reports.map(
        (m) => el("details", {},
          el("summary", {}, `${m.title ?? m.kind.replace("_", " ")} `, state(m.state)),
        m.error && el("p", { class: "error" }, m.error), el("pre", {}, m.body)))),
  ].filter(Boolean),
};

// What the search probably still needs.
function toGo(b) {
  if (b.state !== "open" || b.expected_runs < 1) return "";
  const minutes = b.own_runs > 0 ? Math.ceil(b.expected_runs * b.spent_seconds / b.own_runs / 60)
    : 0;
  return `, some ${Math.round(b.expected_runs)} to go${minutes > 0 ? ` (${minutes} min)` : ""}`;
}

// A search that measures nothing may be waiting for a builder.
const underWay = ({ builds_under_way: n }) =>
  (n > 0 ? `, ${n} ${n === 1 ? "wheel" : "wheels"} being built` : "");

export const progress = (b) => el("p", {}, link(`#/series/${b.series}`, workloadName(b.workload)),
  `, ${metricName(b.metric)}: `,
  `${b.commit_count - 1} commits, ${b.tested_commits} measured (the ends included), `,
  `${b.untestable_commits} not measurable, `,
  `${b.runs} runs in ${b.session_count} sessions`, underWay(b), toGo(b), ", begun ",
  when(b.started_at));

export const bisectionPage = {
  title: (id) => `Bisection ${id}`,
  load: (id) => get(`bisections/${id}`),
  view: (b) => [
    el("section", {}, el("h2", {}, `Bisection ${b.id} `, state(b.state)), progress(b),
      el("p", {}, link(`#/regressions/${b.regression}`, `Regression ${b.regression}`), ", from ",
        el("code", {}, b.good.version),
        " to ", el("code", {}, b.bad.version)), posteriorChart(b)),
    el("section", {}, el("h2", {}, "Measured commits"), table("Oldest first", [
      { name: "commit", whole: true, cell: namedCommit },
      { name: "runs", number: true, cell: (c) => c.runs },
      { name: "level", number: true, cell: (c) =>
        (c.level === null ? "–" : quantity(c.level, b.unit)) },
      { name: "against the good end", number: true, cell: againstGoodEnd },
      { name: "cannot be measured", cell: (c) => c.untestable ?? "–" },
      { name: "built from source", cell: (c) => (c.build_log ? link(c.build_log, "log") : "–") },
    ], b.commits.filter((c) => c.runs > 0 || c.untestable))),
    el("section", {}, el("h2", {}, "Sessions"), b.sessions.length === 0 ? note("None yet.")
      : table(null, [
      { name: "session", cell: (s) => s.session },
      { name: "for", cell: (s) => (s.jobs[0].kind === "confirm" ? "confirmation" : "search") },
      { name: "jobs", cell: (s) => s.jobs.map((j) => [`${j.job} `, state(j.state), " "]) },
      { name: "runs", number: true, cell: (s) => s.jobs.reduce((n, j) => n + j.runs, 0) }],
    b.sessions)),
  ],
};

const oldestFirst = (points) =>
  ((points[0]?.date ?? "") > (points.at(-1)?.date ?? "") ? [...points].reverse() : points);

export const seriesPage = {
  title: (id) => `Series ${id}`,
  async load(id) {
    const series = await get(`series/${id}`);
    const query =
      `workload=${encodeURIComponent(series.workload_name)}&metric=${series.metric}&limit=100`;
    const [points, regressions] = await Promise.all(
      [list(`series/${id}/points`), list(`regressions?${query}`)]);
    const shown = regressions.filter((r) => r.state !== "dismissed" && r.state !== "merged"
      && r.series.some((s) => s.series === series.id));
    return { series, points: oldestFirst(points), regressions: shown };
  },
  view: ({ series, points, regressions }) => [el("section", {},
    el("h2", {}, el("code", {}, series.workload_name), `, ${metricName(series.metric)}`),
    el("p", { class: "soft" },
      `Version ${series.workload_version}, variant ${series.variant}, `,
      `machine class ${series.machine}; `,
      series.direction === "lower_is_better" ? "lower is better." : "higher is better.",
      series.level ? ` Accepted level ${quantity(series.level.value, series.unit)}.`
        : " No level is accepted yet."),
    points.length === 0 ? note("No build of this series has been measured in a night yet.") : [
      seriesChart(series, points, regressions),
      el("details", {}, el("summary", {}, "The same as a table"), table(null, [
        { name: "build", cell: (p) => el("code", {}, p.version) },
        { name: "location", number: true, cell: (p) => quantity(p.location, series.unit) },
        { name: "95 % interval", number: true, cell: (p) =>
          [p.low, p.high].map((end) => quantity(end, series.unit, p.location)).join(" to ") },
        { name: "runs", number: true, cell: (p) => p.values.length }], [...points].reverse()))]),
  regressions.length > 0 && el("section", {}, el("h2", {}, "Regressions of this series"),
    el("ul", {},
      regressions.map(
        (r) => el("li", {}, link(`#/regressions/${r.id}`, `Regression ${r.id}`), " ",
          state(r.state), " ", verdict(r))))),
  ].filter(Boolean),
};

const unknownCommit = (sha) =>
  ({ sha, subject: null, author: null, committed_at: null, builds: [], measured: [] });

export const commitPage = {
  title: (sha) => `Commit ${sha.slice(0, 12)}`,
  async load(sha) {
    const [known, blamed] = await Promise.all([
      get(`commits/${sha}`)
        .catch((error) => { if (error.status === 404) return unknownCommit(sha); throw error; }),
      list(`regressions?commit=${sha}&limit=100`)]);
    return { known, blamed };
  },
  view: ({ known, blamed }) => [el("section", {},
    el("h2", {}, known.subject ?? ["Commit ", el("code", {}, known.sha.slice(0, 12))]),
    el("p", { class: "soft" }, el("code", {}, known.sha),
      known.subject ? [" by ", known.author, ", ", when(known.committed_at)]
        : ": the copy of the repository does not have it."),
    el("h3", {}, "Regressions blamed on it"), blamed.length === 0 ? note("None.")
      : el("ul", {},
        blamed.map((r) => el("li", {}, link(`#/regressions/${r.id}`, `Regression ${r.id}`), " ",
          state(r.state), " ", verdict(r)))),
    el("h3", {}, "Searches with it in their range"), known.measured.length === 0 ? note("None.")
      : table(null, [
      { name: "search", whole: true, cell: (m) =>
        [link(`#/bisections/${m.bisection}`, `Bisection ${m.bisection}`),
        `: ${workloadName(m.workload)}, ${metricName(m.metric)}`] },
      { name: "place", cell: (m) => `${m.index} of ${m.commit_count - 1}` },
      { name: "runs", number: true, cell: (m) => m.runs },
      { name: "level", number: true, cell: (m) =>
        (m.level === null ? "–" : quantity(m.level, m.unit)) },
      { name: "against the good end", number: true, cell: againstGoodEnd },
      { name: "cannot be measured", cell: (m) => m.untestable ?? "–" }], known.measured),
    el("h3", {}, "Its builds"), known.builds.length === 0 ? note("None.")
      : el("ul", {},
        known.builds.map(
          (b) => el("li", {}, el("code", {}, b.version), ` ${b.kind} `, state(b.state),
            b.reason ? ` ${b.reason}` : ""))),
    el("h3", {}, "Look at it"), el("pre", {}, `git show ${known.sha}`))],
};
