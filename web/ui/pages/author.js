// Author: what was measured for them, what they are blamed for, and what they repaired.

import { all, get } from "../api.js";
import { fold, lead, link, longTable, namedCommit, note, number, section, strong, tight, when,
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

const fewCommits = 20;  // of which one did it; among more an author's are chance

function howSure(r) {
  const several = r.commits.length > 1 && `one of ${r.commits.length} commits`;
  if (r.bisection === null) return several || "the only commit in question";
  return [several && `${several}, `, link(`#/bisections/${r.bisection}`, "named by a search")];
}

const repairColumns = [
  tight("regression", (r) => regressionLink(r.regression)),
  whole("by", (r) => r.own.map((c, i) => [i > 0 && ", ", namedCommit(c)])),
  tight("how sure", howSure)];

const repairsTable = (repairs) => longTable(
  "What a search named, otherwise all that is new in the first good build", repairColumns, repairs);

const repaired = ({ near, far }) => section("May have repaired",
  near.length > 0 ? repairsTable(near) : note("Nothing."),
  far.length > 0 && fold("author-far", `Of ${count(far.length, "further regression")
  } the repair is one of more than ${fewCommits} commits`, repairsTable(far)));

export const page = {
  title: () => "Author",
  async load(_, query) {
    const name = query.get("name") ?? "";
    const named = encodeURIComponent(name);
    const [known, blamed, repairs] = await Promise.all([get(`authors?name=${named}`),
      name ? all(`regressions?author=${named}&counted=true`) : [], all("repairs")]);
    const own = repairs.map((r) => ({ ...r, own: r.commits.filter((c) => c.author === name) }))
      .filter((r) => r.own.length > 0);
    const isNear = (r) => r.commits.length <= fewCommits;
    return { name, blamed, near: own.filter(isNear), far: own.filter((r) => !isNear(r)),
      commits: known.commits.map((c) => ({ ...c, blamed: blamed.filter((r) =>
        r.culprit.commits.includes(c.sha)).map((r) => r.id) })) };
  },
  view: ({ name, blamed, commits, near, far }) => [
    section(name || "No author is named", lead(commits.length === 0
      ? "No search had a commit of this author in its range." : [`${count(commits.length,
        "commit")} in the ranges of searches, blamed for `, strong(count(blamed.length,
        "regression")), `; may have repaired ${count(near.length, "regression")}.`]),
    blamedFor(blamed)),
    repaired({ near, far }),
    section("Commits in searches", commits.length === 0 ? note("None.")
      : longTable("The newest 50 at most", columns, commits))],
};
