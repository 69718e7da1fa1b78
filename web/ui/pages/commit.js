// Commit: what was measured of it, what it is blamed for, and which builds there are.

import { get, list } from "../api.js";
import { copyable, el, link, note, section, state, table, when } from "../dom.js";
import { againstGoodEnd, verdict, workload } from "../parts.js";
import { metricName, quantity } from "../words.js";

const unknown = (sha) =>
  ({ sha, subject: null, author: null, committed_at: null, builds: [], measured: [] });

const measuredColumns = [
  { name: "search", whole: true, cell: (m) => [workload(m.workload, `#/bisections/${m.bisection}`),
    ` ${metricName(m.metric)}`] },
  { name: "place", cell: (m) => `${m.index} of ${m.commit_count - 1}` },
  { name: "runs", number: true, cell: (m) => m.runs },
  { name: "level", number: true, cell: (m) => (m.level === null ? "–"
    : quantity(m.level, m.unit)) },
  { name: "against the good end", number: true, cell: againstGoodEnd },
  { name: "cannot be measured", cell: (m) => m.untestable ?? "–" }];

const buildColumns = [
  { name: "build", whole: true, cell: (b) => el("code", {}, b.version) },
  { name: "kind", cell: (b) => b.kind },
  { name: "state", cell: (b) => [state(b.state), b.reason && ` ${b.reason}`] }];

/** Is it my commit? In a sentence. */
function answer({ known, blamed }) {
  if (blamed.length > 0) {
    return el("p", { class: "lead" }, el("strong", {}, "It is blamed"), " for ",
      blamed.length === 1 ? "one regression." : `${blamed.length} regressions.`);
  }
  const tried = known.measured.filter((m) => m.runs > 0).length;
  return el("p", { class: "lead" }, "It is blamed for nothing. ", known.measured.length === 0
    ? "No search had it in its range." : `${known.measured.length} searches had it in their ` +
      `range, and ${tried} of them measured it.`);
}

export const commitPage = {
  title: (sha) => `Commit ${sha.slice(0, 10)}`,
  async load(sha) {
    const [known, blamed] = await Promise.all([
      get(`commits/${sha}`)
        .catch((error) => { if (error.status === 404) return unknown(sha); throw error; }),
      list(`regressions?commit=${sha}&limit=100`)]);
    return { known, blamed };
  },
  view: ({ known, blamed }) => [section(
    known.subject ?? ["Commit ", el("code", {}, known.sha.slice(0, 10))],
    el("p", { class: "soft" }, el("code", {}, known.sha),
      known.subject ? [" by ", known.author, ", ", when(known.committed_at)]
        : ": the copy of the repository does not have it."),
    answer({ known, blamed }), blamed.length > 0 && el("ul", {}, blamed.map((r) => el("li", {},
      link(`#/regressions/${r.id}`, `Regression ${r.id}`), " ", state(r.state), " ", verdict(r))))),
  section("Searches with it in their range", known.measured.length === 0 ? note("None.")
    : table(null, measuredColumns, known.measured)),
  section("Its builds", known.builds.length === 0 ? note("None.")
    : table(null, buildColumns, known.builds),
  copyable(`git show ${known.sha}`))],
};
