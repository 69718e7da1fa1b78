// Two builds series by series: what differs beyond noise comes first, the rest is folded. A mean
// never hides a row.

import { all, get, machines } from "../api.js";
import { commit, el, fold, longTable, note, saveText, section } from "../dom.js";
import { changeWithin, tone, workload } from "../parts.js";
import { change, count, csv, machineName, metricName, quantity, workloadParts }
  from "../words.js";

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

const addressWith = (query, changes) => {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return `#/compare?${next}`;
};

function chooser(name, label, options, chosen, query) {
  const node = el("select", { id: name,
    onchange: () => { location.hash = addressWith(query, { [name]: node.value }); } }, options);
  node.value = chosen ?? "";
  return el("label", {}, label, node);
}

function form({ nightlies, good, bad, items, classes }, query) {
  const option = (b) => el("option", { value: b.id },
    b.date ? `${b.date} ${b.version}` : b.version);
  const known = (id) => (nightlies.some((b) => b.id === id) ? [] : [el("option", { value: id },
    `build ${id}`)]);
  const nameOf = (name, value) => (name === "metric" ? metricName(value) : name === "machine"
    ? machineName(classes.find((m) => String(m.id) === value) ?? { facts: {}, id: value }) : value);
  return el("form", { class: "search" },
    chooser("good", "Compare with", [...known(good), ...nightlies.map(option)], good, query),
    chooser("bad", "this build", [...known(bad), ...nightlies.map(option)], bad, query),
    filters.map((name) => chooser(name, name, [el("option", { value: "" }, "all"),
      ...[...new Set(items.map((s) => valueOf(s, name)))].toSorted().map((value) =>
        el("option", { value }, nameOf(name, value)))], query.get(name), query)));
}

/** Geometric means by metric, over how many series: beside the rows, never in their place. */
function means(items) {
  const by = Map.groupBy(items.filter((s) => s.ratio > 0), (s) => s.metric);
  return el("p", { class: "soft" }, "Geometric means, for orientation: ",
    [...by].map(([metric, some]) => `${metricName(metric)} ${change(Math.exp(some.reduce(
      (sum, s) => sum + Math.log(s.ratio), 0) / some.length))} over ${count(some.length,
      "series", "series")}`).join(", "), ".");
}

const columns = (classes) => [
  { name: "series", whole: true, cell: (s) => workload(s.workload, `#/series/${s.series}`) },
  { name: "metric", cell: (s) => metricName(s.metric) },
  { name: "machine", cell: (s) => machineName(classes.find((m) => m.id === s.machine)
    ?? { facts: {}, id: s.machine }) },
  { name: "before", number: true, cell: (s) =>
    quantity(s.before, s.unit, Math.max(s.before, s.after)) },
  { name: "after", number: true, cell: (s) =>
    quantity(s.after, s.unit, Math.max(s.before, s.after)) },
  { name: "change", number: true, cell: changeWithin },
  { name: "measured", cell: (s) => (s.source === "confirm" ? "in turns" : "by night") }];

const csvOf = (items) => csv([["series", "workload", "metric", "unit", "machine", "before",
  "after", "ratio", "low", "high", "before_runs", "after_runs"], ...items.map((s) => [s.series,
  s.workload, s.metric, s.unit, s.machine, s.before, s.after, s.ratio, s.low, s.high,
  s.before_runs, s.after_runs])]);

/** The least change that counts, in percent, beyond the interval. */
const leastOf = (query) => Number(query.get("least") ?? 3) / 100;

const differs = (s, least) => tone(s) !== null && s.ratio !== null
  && Math.abs(s.ratio - 1) >= least;

export const comparePage = {
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
      el("p", { class: "lead" }, `${worse.length} worse, ${better.length} better, `,
        `${rest.length} alike of ${count(items.length, "series", "series")}`),
      el("p", { class: "soft" }, "Between ", el("code", {}, compared.good.version), " ",
        commit(compared.good.commit), " and ", el("code", {}, compared.bad.version), " ",
        commit(compared.bad.commit), ". Beyond noise: the 95 % interval leaves out no change, and ",
        `the change is ${least * 100} % at least.`), means(items),
      el("p", { class: "tools" }, el("button", { type: "button", onclick: () =>
        saveText(csvOf(items), "compare.csv", "text/csv") }, "CSV"))),
    section("Worse", worse.length ? longTable(null, columns(classes), worse) : note("Nothing.")),
    section("Better", better.length ? longTable(null, columns(classes), better)
      : note("Nothing.")),
    rest.length > 0 && section(null, fold("alike", `${rest.length} alike`,
      longTable(null, columns(classes), rest)))];
  },
};
