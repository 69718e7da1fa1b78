// Vision: models by batch, device and backend, what runs out of memory, and percent against eager.

import { all, list, machines } from "../api.js";
import { level, pairs, ratio } from "../backends.js";
import { changeBars } from "../bars.js";
import { releasesBeside } from "../beside.js";
import { column, el, lead, note, number, section, version, within } from "../dom.js";
import { chooser, className, groupedTables, valuesOf } from "../parts.js";
import { geomean } from "../statistics.js";
import { change, count, quantity, shortMiddle } from "../words.js";

const filters = ["machine", "precision", "task"];

const releaseWord = "release ";

const batchOf = (r) => r.parts.batch.slice(1);

const valueOf = (r, name) => String(r.parts[name] ?? r.machine);

/** How the newest run of a failing workload ended, by its name and machine. */
async function endings(series) {
  const failing = series.filter((s) => s.metric === "failures" && s.level?.value > 1.01);
  return Object.fromEntries(await Promise.all(failing.map(async (s) =>
    [`${s.workload_name}@${s.machine}`,
      (await list(`runs?workload=${s.workload}&limit=1`))[0]?.status ?? "failed"])));
}

const isRelease = (backend) => backend.startsWith(releaseWord);

/** Adds what the last release took, as backends of their own: "release eager". */
function addReleases(rows, releases) {
  const found = new Map(releases.map((r) => [`${r.workload}@${r.first.machine}`, r.first]));
  for (const { machine, backends } of rows) {
    for (const [backend, side] of Object.entries(backends)) {
      const release = found.get(`${side.name}@${machine}`);
      if (!release) continue;
      backends[`${releaseWord}${backend}`] = { name: side.name, version: release.build.version,
        metrics: { latency: { id: release.series, level: { value: release.value } } } };
    }
  }
}

function cell(r, backend, failed) {
  const side = r.backends[backend], own = level(side, "latency");
  const ended = side && !isRelease(backend) && failed[`${side.name}@${r.machine}`];
  if (ended) return el("span", { class: "worse" }, ended.replaceAll("_", " "));
  if (own === null) return "–";
  const against = backend === "eager" ? null : ratio(own, level(r.backends.eager, "latency"));
  return [el("a", { href: `#/series/${side.metrics.latency.id}`, title: side.version },
    quantity(own, "s")),
    against && within(` ${change(against)}`)];
}

const columns = (backends, failed, classes) => [
  column("device", (r) => className(classes, r.machine)),
  number("batch", batchOf),
  column("precision", (r) => r.parts.precision),
  column("task", (r) => r.parts.task),
  ...backends.map((b) => number(b, (r) => cell(r, b, failed)))];

/** Geometric means of the time against eager, by what groupOf gives. */
function groups(rows, backends, groupOf) {
  return [...Map.groupBy(rows, groupOf)].toSorted(([a], [b]) => a.localeCompare(b, "en",
    { numeric: true })).flatMap(([name, some]) => backends.filter((b) => b !== "eager").map((b) => {
    const ratios = some.map((r) => ratio(level(r.backends[b], "latency"),
      level(r.backends.eager, "latency"))).filter(Boolean);
    return { name: `${name}, ${b.replace("inductor-", "")} (${ratios.length})`,
      ratio: geomean(ratios) };
  })).filter((g) => g.ratio);
}

/** "vit_b16: 12 rows, inductor −31.0 %, 1 of 36 combinations fails". */
function summaryOf(model, rows, backends, failed) {
  const nightly = rows.flatMap((r) => Object.entries(r.backends)
    .filter(([backend]) => !isRelease(backend)).map(([, side]) => `${side.name}@${r.machine}`));
  const ends = nightly.filter((name) => failed[name]).length;
  const means = groups(rows, backends, () => "").map((g) =>
    `, ${g.name.replace(/^, | \(.*/g, "")} ${change(g.ratio)}`);
  return [el("strong", { title: model }, shortMiddle(model)), `: ${count(rows.length, "row")}`,
    means, ends > 0 && [", ", el("span", { class: "worse" },
      `${ends} of ${count(nightly.length, "combination")} ${ends === 1 ? "fails" : "fail"}`)]];
}

/** Which releases the columns of releases show. */
function releaseNote(rows) {
  const versions = new Set(rows.flatMap((r) => Object.values(r.backends))
    .flatMap((side) => side.version ?? []));
  return versions.size === 0 ? "All are nightly builds: no release was measured." : [
    "A column named release has the last release that was measured (",
    [...versions].toSorted().map((v, i) => [i > 0 && ", ", version(v)]),
    "), against eager of the nightly; the others are nightly builds."];
}

export const page = {
  title: () => "Vision",
  async load() {
    const [timed, failures, classes, releases] = await Promise.all([
      all("series?metric=latency", 5000), all("series?metric=failures", 5000), machines(),
      releasesBeside(null, "domain=vision")]);
    const series = [...timed, ...failures].filter((s) => s.domain === "vision");
    const rows = pairs(series);
    addReleases(rows, releases.items);
    return { rows, classes, failed: await endings(series) };
  },
  view({ rows, failed, classes }, _, query) {
    if (rows.length === 0) return [section("Vision", note("No vision model has a level yet."))];
    const shown = rows.filter((r) => filters.every((f) => !query.get(f)
      || valueOf(r, f) === query.get(f))).toSorted((a, b) => a.parts.model.localeCompare(
      b.parts.model) || a.machine - b.machine || batchOf(a) - batchOf(b));
    const backends = [...new Set(rows.flatMap((r) => Object.keys(r.backends)))].toSorted();
    const nightly = backends.filter((b) => !isRelease(b));
    const byBatch = groups(shown, nightly, (r) => `batch ${batchOf(r)}`);
    const byDevice = groups(shown, nightly,
      (r) => shortMiddle(className(classes, r.machine), 20));
    return [section("Vision models", el("form", { class: "search" }, filters.map((f) =>
      chooser("vision", f, f, valuesOf(rows, (r) => valueOf(r, f), (v) => (f === "machine"
        ? className(classes, Number(v)) : v)), query))),
    lead(count(shown.length, "row"), ` of ${count(new Set(shown.map((r) =>
      r.parts.model)).size, "model")}`),
    note("By model: time of an iteration at its accepted level, and percent against eager. ",
      releaseNote(rows)),
    groupedTables("vision", shown, { by: (r) => r.parts.model,
      summary: (model, rows) => summaryOf(model, rows, backends, failed),
      columns: () => columns(backends, failed, classes) })),
    byBatch.length > 0 && section("Time against eager",
      el("h3", {}, "By batch, geometric mean over what ran both ways (how many)"),
      changeBars("By batch", byBatch), el("h3", {}, "By device"),
      changeBars("By device", byDevice))];
  },
};
