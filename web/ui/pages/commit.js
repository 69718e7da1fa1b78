// Commit: what was measured of it, what it is blamed for, and which builds there are.

import { all, get, list } from "../api.js";
import { code, column, copyable, el, lead, link, note, number, section, state, strong, table,
  tight, version, when, whole } from "../dom.js";
import { againstReference, blamedFor, regressionLink, workload } from "../parts.js";
import { count, metricName, quantity } from "../words.js";

const unknown = (sha) =>
  ({ sha, subject: null, author: null, committed_at: null, builds: [], measured: [] });

const measuredColumns = [
  whole("search", (m) => [workload(m.workload, `#/bisections/${m.bisection}`),
    ` ${metricName(m.metric)}`]),
  tight("place", (m) => `${m.index} of ${m.commit_count - 1}`),
  number("runs", (m) => m.runs),
  number("level", (m) => (m.level === null ? "–"
    : quantity(m.level, m.unit))),
  number("against the good end", againstReference),
  column("cannot be measured", (m) => m.untestable ?? "–")];

const buildColumns = [
  whole("build", (b) => version(b.version)),
  column("kind", (b) => b.kind),
  column("state", (b) => [state(b.state), b.reason && ` ${b.reason}`])];

/** Is it my commit? In a sentence. */
function answer({ known, blamed }) {
  if (blamed.length > 0) {
    return lead(strong("It is blamed"), " for ",
      blamed.length === 1 ? "one regression." : `${blamed.length} regressions.`);
  }
  const tried = known.measured.filter((m) => m.runs > 0).length;
  return lead("It is blamed for nothing. ", known.measured.length === 0
    ? "No search had it in its range." : `${count(known.measured.length, "search", "searches")} ` +
      `had it in the range, and ${tried} of them measured it.`);
}

const repaired = (repairs) => repairs.length > 0 && el("p", {},
  repairs.map((r) => [r.commits.length === 1 ? "It repaired " : `It is one of ${
    r.commits.length} commits that may have repaired `, regressionLink(r.regression),
  r.bisection !== null && [", as ", link(`#/bisections/${r.bisection}`, "a search"), " named it"],
  ". "]));

const improved = (improvements) => improvements.length > 0 && el("p", {},
  "A search named it for what got better: ", improvements.map((i, at) => [at > 0 && ", ",
    workload(i.workload, `#/bisections/${i.bisection}`), ` ${metricName(i.metric)}`]), ".");

export const page = {
  title: (sha) => `Commit ${sha.slice(0, 10)}`,
  async load(sha) {
    const [known, blamed, repairs, improvements] = await Promise.all([
      get(`commits/${sha}`)
        .catch((error) => { if (error.status === 404) return unknown(sha); throw error; }),
      list(`regressions?commit=${sha}&counted=true&limit=100`), all(`repairs?commit=${sha}`),
      list(`improvements?commit=${sha}&limit=100`)]);
    return { known, blamed, repairs, improvements };
  },
  view: ({ known, blamed, repairs, improvements }) => [section(
    known.subject ?? ["Commit ", code(known.sha.slice(0, 10))],
    el("p", { class: "soft" }, code(known.sha),
      known.subject ? [" by ", link(`#/authors?name=${encodeURIComponent(known.author)}`,
        known.author), ", ", when(known.committed_at)]
        : ": the copy of the repository does not have it."),
    answer({ known, blamed }), repaired(repairs), improved(improvements), blamedFor(blamed)),
  section("Searches with it in their range", known.measured.length === 0 ? note("None.")
    : table(null, measuredColumns, known.measured)),
  section("Its builds", known.builds.length === 0 ? note("None.")
    : table(null, buildColumns, known.builds),
  copyable(`git show ${known.sha}`))],
};
