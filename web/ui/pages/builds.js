// Builds of a day: which commits have a wheel and from where, by native group, and what failed.

import { all } from "../api.js";
import { commit, el, link, note, section, state, table, when } from "../dom.js";
import { count } from "../words.js";

const dayOf = (time) => time.slice(0, 10);

/** The days that have builds or look-ups, newest first. */
const daysOf = ({ builds, lookups }) => [...new Set([...builds.map((b) => dayOf(b.found_at)),
  ...lookups.map((l) => dayOf(l.wanted_at))])].toSorted().toReversed();

function chooser(days, day) {
  const node = el("select", { id: "day",
    onchange: () => { location.hash = `#/builds?day=${node.value}`; } },
  days.map((one) => el("option", { value: one }, one)));
  node.value = day;
  return el("form", { class: "search" }, el("label", {}, "Day", node));
}

const needs = (b) => [b.python_tag, b.platform_tag, b.gpu_architectures].filter(Boolean)
  .map((text) => el("span", { class: "tag" }, text));

const buildColumns = [
  { name: "build", whole: true, cell: (b) => el("code", {}, b.version) },
  { name: "kind", cell: (b) => b.kind },
  { name: "commit", cell: (b) => commit(b.commit) },
  { name: "state", cell: (b) => [state(b.state), b.reason && ` ${b.reason}`] },
  { name: "for", cell: needs },
  { name: "found", tight: true, cell: (b) => when(b.found_at) },
  { name: "", cell: (b) => b.kind === "nightly" && link(`#/compare?bad=${b.id}`, "compare") }];

const lookupColumns = [
  { name: "commit", cell: (l) => commit(l.commit) },
  { name: "state", cell: (l) => state(l.state) },
  { name: "why", whole: true, cell: (l) => l.reason ?? "–" },
  { name: "read", number: true, cell: (l) => `${Math.round(l.bytes / 2 ** 20)}\u00a0MiB` },
  { name: "looked", tight: true, cell: (l) => when(l.looked_at_time) },
  { name: "again", tight: true, cell: (l) => when(l.retry_at) }];

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

export const buildsPage = {
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
    return [section(`Builds of ${day}`, chooser(days, day),
      el("p", { class: "lead" }, count(builds.length, "build"), failed.length > 0
        ? `, ${failed.length} of them not usable` : "", `; CI was asked for ${count(
        lookups.length, "commit")}`),
      builds.length > 0 ? table(null, buildColumns, builds) : null),
    lookups.length > 0 && section("Wheels of CI, by native group", groups(lookups))];
  },
  news: () => "There are new builds",
};
