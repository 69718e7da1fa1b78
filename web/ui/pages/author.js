// Author: what was measured for them, what they are blamed for, and what they repaired.

import { all, get } from "../api.js";
import { column, lead, link, longTable, namedCommit, note, number, section, strong, tight, when,
  whole } from "../dom.js";
import { blamedFor, regressionLink } from "../parts.js";
import { count } from "../words.js";

const listed = (ids) => (ids.length === 0 ? "–" : ids.map((id, i) => [i > 0 && ", ",
  regressionLink(id)]));

const columns = [
  whole("commit", namedCommit),
  tight("when", (c) => when(c.committed_at)),
  number("searches", (c) => c.measured.length),
  number("runs measured", (c) => c.measured.reduce((n, m) => n + m.runs, 0)),
  whole("blamed for", (c) => listed(c.blamed))];

function howSure(r) {
  const several = r.commits.length > 1 && `one of ${r.commits.length} commits`;
  if (r.bisection === null) return several || "the only commit in question";
  return [several && `${several}, `, link(`#/bisections/${r.bisection}`, "named by a search")];
}

const repairColumns = [
  column("regression", (r) => regressionLink(r.regression)),
  whole("by", (r) => r.own.map((c, i) => [i > 0 && ", ", namedCommit(c)])),
  column("how sure", howSure)];

export const page = {
  title: () => "Author",
  async load(_, query) {
    const name = query.get("name") ?? "";
    const [known, regressions, repairs] = await Promise.all([
      get(`authors?name=${encodeURIComponent(name)}`), all("regressions"), all("repairs")]);
    const blamed = regressions.filter((r) => r.culprit && r.state !== "dismissed"
      && r.culprit.commit_details.some((c) => c.author === name));
    return { name, blamed, commits: known.commits.map((c) => ({ ...c, blamed: blamed.filter((r) =>
      r.culprit.commits.includes(c.sha)).map((r) => r.id) })),
    repairs: repairs.map((r) => ({ ...r, own: r.commits.filter((c) => c.author === name) }))
      .filter((r) => r.own.length > 0) };
  },
  view: ({ name, blamed, commits, repairs }) => [
    section(name || "No author is named", lead(commits.length === 0
      ? "No search had a commit of this author in its range." : [`${count(commits.length,
        "commit")} in the ranges of searches, blamed for `, strong(count(blamed.length,
        "regression")), `; may have repaired ${count(repairs.length, "regression")}.`]),
    blamedFor(blamed)),
    section("May have repaired", repairs.length === 0 ? note("Nothing.")
      : longTable("What a search named, otherwise all that is new in the first good build",
        repairColumns, repairs)),
    section("Commits in searches", commits.length === 0 ? note("None.")
      : longTable("The newest 50 at most", columns, commits))],
};
