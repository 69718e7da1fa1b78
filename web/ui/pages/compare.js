// Two builds series by series: what differs beyond noise comes first, the rest is folded. A mean
// never hides a row.

import { all, get, machines } from "../api.js";
import { code, column, commit, el, fold, lead, longTable, note, number, section,
  whole } from "../dom.js";
import { changeWithin, chooser, className, tone, valuesOf, workload } from "../parts.js";
import { geomean } from "../statistics.js";
import { change, count, metricName, quantity, workloadParts } from "../words.js";

const filters = ["metric", "machine", "device", "backend"];

const size = (s) => (s.ratio ? Math.abs(Math.log(s.ratio)) : Math.abs(s.after - s.before));

/** The pair of builds: as the address says, else the newest two of the kind. */
function pairOf(builds, query) {
  const nightlies = builds.filter((b) => b.kind === "nightly" && b.state === "proved")
    .toSorted((a, b) => (a.date < b.date ? 1 : -1));
  const bad = Number(query.get("bad")) || nightlies[0]?.id;
  const at = nightlies.findIndex((b) => b.id === bad);
  const good = Number(query.get("good")) || nightlies[at + 1]?.id;
  return { nightlies, good, bad };
}

const valueOf = (s, name) => (name === "metric" ? s.metric : name === "machine"
  ? String(s.machine) : workloadParts(s.workload)?.[name] ?? "");

function form({ nightlies, good, bad, items, classes }, query) {
  const builds = (id) => [...(nightlies.some((b) => b.id === id) ? [] : [[id, `build ${id}`]]),
    ...nightlies.map((b) => [b.id, b.date ? `${b.date} ${b.version}` : b.version])];
  const nameOf = (name, value) => (name === "metric" ? metricName(value)
    : name === "machine" ? className(classes, Number(value)) : value);
  return el("form", { class: "search" },
    chooser("compare", "good", "Compare with", builds(good), query, good),
    chooser("compare", "bad", "this build", builds(bad), query, bad),
    filters.map((name) => chooser("compare", name, name, valuesOf(items,
      (s) => valueOf(s, name), (value) => nameOf(name, value)), query)));
}

/** Geometric means by metric, over how many series. */
function means(items) {
  const by = Map.groupBy(items.filter((s) => s.ratio > 0), (s) => s.metric);
  return el("p", { class: "soft" }, "Geometric means, for orientation: ",
    [...by].map(([metric, some]) => `${metricName(metric)} ${change(geomean(some.map(
      (s) => s.ratio)))} over ${count(some.length,
      "series", "series")}`).join(", "), ".");
}

const columns = (classes) => [
  whole("series", (s) => workload(s.workload, `#/series/${s.series}`)),
  column("metric", (s) => metricName(s.metric)),
  column("machine", (s) => className(classes, s.machine)),
  number("before", (s) =>
    quantity(s.before, s.unit, Math.max(s.before, s.after))),
  number("after", (s) =>
    quantity(s.after, s.unit, Math.max(s.before, s.after))),
  number("change", changeWithin),
  column("measured", (s) => (s.source === "confirm" ? "in turns" : "by night"))];

/** The least change that counts, beyond the interval. */
const leastOf = (query) => Number(query.get("least") ?? 3) / 100;

const differs = (s, least) => tone(s) !== null && s.ratio !== null
  && Math.abs(s.ratio - 1) >= least;

export const page = {
  title: () => "Compare",
  async load(_, query) {
    const [builds, classes] = await Promise.all([all("builds", 2000), machines()]);
    const pair = pairOf(builds, query);
    if (!pair.good || !pair.bad) return { ...pair, items: [], classes, compared: null };
    const compared = await get(`compare?good=${pair.good}&bad=${pair.bad}`);
    return { ...pair, compared, items: compared.items, classes };
  },
  view(data, _, query) {
    const { compared, classes } = data;
    if (!compared) return [section("Compare", note("It takes two measured builds."))];
    const items = data.items.filter((s) => filters.every((name) => !query.get(name)
      || valueOf(s, name) === query.get(name)));
    const least = leastOf(query);
    const out = items.filter((s) => differs(s, least)).toSorted((a, b) => size(b) - size(a));
    const worse = out.filter((s) => tone(s) === "worse");
    const better = out.filter((s) => tone(s) === "better");
    const rest = items.filter((s) => !differs(s, least));
    return [section("Compare two builds", form(data, query),
      lead(`${worse.length} worse, ${better.length} better, `,
        `${rest.length} alike of ${count(items.length, "series", "series")}`),
      el("p", { class: "soft" }, "Between ", code(compared.good.version), " ",
        commit(compared.good.commit), " and ", code(compared.bad.version), " ",
        commit(compared.bad.commit), ". Beyond noise: the 95 % interval leaves out no change, and ",
        `the change is ${least * 100}\u00a0% at least.`), means(items)),
    section("Worse", worse.length ? longTable(null, columns(classes), worse) : note("Nothing.")),
    section("Better", better.length ? longTable(null, columns(classes), better)
      : note("Nothing.")),
    rest.length > 0 && section(null, fold("alike", `${rest.length} alike`,
      longTable(null, columns(classes), rest)))];
  },
};
