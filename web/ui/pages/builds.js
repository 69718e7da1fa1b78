// Builds of a day: which commits have a wheel and from where, by native group, and what failed.

import { all } from "../api.js";
import { column, commit, el, lead, link, note, number, section, state, table, tight, version,
  when, whole } from "../dom.js";
import { chooser, saying } from "../parts.js";
import { count } from "../words.js";

const dayOf = (time) => time.slice(0, 10);

/** The days that have builds or look-ups, newest first. */
const daysOf = ({ builds, lookups }) => [...new Set([...builds.map((b) => dayOf(b.found_at)),
  ...lookups.map((l) => dayOf(l.wanted_at))])].toSorted().toReversed();

const needs = (b) => [b.python_tag, b.platform_tag, b.gpu_architectures].filter(Boolean)
  .map((text) => el("span", { class: "tag" }, text));

const buildColumns = [
  whole("build", (b) => version(b.version)),
  column("kind", (b) => b.kind),
  column("commit", (b) => commit(b.commit)),
  column("state", (b) => [state(b.state), b.reason && ` ${b.reason}`]),
  column("for", needs),
  tight("found", (b) => when(b.found_at)),
  column("", (b) => b.kind === "nightly" && link(`#/compare?bad=${b.id}`, "compare"))];

const lookupColumns = [
  column("commit", (l) => commit(l.commit)),
  column("state", (l) => state(l.state)),
  whole("why", (l) => l.reason ?? "–"),
  number("read", (l) => `${Math.round(l.bytes / 2 ** 20)}\u00a0MiB`),
  tight("looked", (l) => when(l.looked_at_time)),
  tight("again", (l) => when(l.retry_at))];

/** Commits with the same compiled files share a wheel: one group, one table. */
function groups(lookups) {
  const by = Map.groupBy(lookups, (l) => l.native_state ?? l.commit);
  return [...by.values()].map((some) => {
    const served = some.find((l) => l.state === "fetched") ?? some.find((l) =>
      l.state === "found");
    return table(`${count(some.length, "commit")} with the same compiled files: ${served
      ? `a wheel is ${served.state}` : "no wheel"}`, lookupColumns, some);
  });
}

export const page = {
  title: () => "Builds",
  async load() {
    const [builds, lookups] = await Promise.all([all("builds", 1000), all("lookups", 1000)]);
    return { builds, lookups };
  },
  view(data, _, query) {
    const days = daysOf(data);
    if (days.length === 0) return [section("Builds", note("No build is known yet."))];
    const day = days.includes(query.get("day")) ? query.get("day") : days[0];
    const builds = data.builds.filter((b) => dayOf(b.found_at) === day);
    const lookups = data.lookups.filter((l) => dayOf(l.wanted_at) === day);
    const failed = builds.filter((b) => b.state === "unusable" || b.state === "unproved");
    return [section(`Builds of ${day}`, el("form", { class: "search" },
      chooser("builds", "day", "Day", days.map((d) => [d, d]), query, day)),
      lead(count(builds.length, "build"), failed.length > 0
        ? `, ${failed.length} of them not usable` : "", `; CI was asked for ${count(
        lookups.length, "commit")}`),
      builds.length > 0 ? table(null, saying(buildColumns, builds), builds) : null),
    lookups.length > 0 && section("Wheels of CI, by native group", groups(lookups))];
  },
  news: () => "There are new builds",
};
