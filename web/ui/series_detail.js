// What is known of the chosen build in a plot of series: its values, commit, machine, environment,
// session, profile and raw samples.

import { get, list, once } from "./api.js";
import { still, valueAxis } from "./chart.js";
import { commit, el, failure, link, strong, svg, version, within, written } from "./dom.js";
import { colours } from "./series_drawing.js";
import { dateOf, factsChanged } from "./series_history.js";
import { change, count, quantity } from "./words.js";

/** Text that comes later, from a promise of nodes. */
function later(promise) {
  const place = el("span", {}, "…");
  promise.then((nodes) => place.replaceChildren(...[nodes].flat(Infinity).filter(Boolean)),
    (error) => place.replaceChildren(error.message));
  return place;
}

function valueOf(history, i, k, several) {
  const { unit } = history.series, of = (v) => quantity(v, unit, history.location[i]);
  const rated = history.series.has_ratio;
  return [several && el("span", { class: `swatch s${k % colours}` }, "● "),
    strong(of(history.location[i])), within(` (${unit === "outcome" ? ""
      : `${of(history.low[i])} to ${of(history.high[i])}, `}${count(history.runs[i], "run")})`),
    rated && i > 0
      && `, ${change(history.location[i] / history.location[i - 1])} against the build before`,
    rated && history.level[i] > 0
      && `, ${change(history.location[i] / history.level[i])} against the level`, el("br")];
}

/** Which runner, what changed of the machine, and with which packages. */
function placeOf(history, i) {
  const runner = history.runners.find((r) => r.id === history.runner[i])?.name;
  const before = i > 0 && factsChanged(history, i - 1, i);
  const lock = history.lock[i], changed = i > 0 && lock !== history.lock[i - 1];
  return ["on ", runner ? link("#/machines", runner) : "a runner that is not known",
    before && [" (", strong(before), ")"], ", packages ",
    lock === null ? "of the runner's Python"
      : el("code", { title: history.locks[lock] }, history.locks[lock].slice(0, 10)),
    changed && ", others than before", "; "];
}

function sessionOf(history, i) {
  if (history.job[i] === null) return "its session is not kept";
  return later(once(`jobs/${history.job[i]}`).then((job) =>
    [link(`#/nights?night=${job.night}`, `night ${job.night}`), `, job ${job.id}`]));
}

function profileOf({ series }, build) {
  const ofWorkload = `profiles?workload=${encodeURIComponent(series.workload_name)}&limit=500`;
  return later(once(ofWorkload).then(({ items }) => {
    const found = items.find((p) => p.machine === series.machine && p.build.id === build);
    return found ? link("#/roofline", "profile") : "not profiled";
  }));
}

const [width, high] = [880, 180];
const edge = { top: 18, right: 8, bottom: 24, left: 56 };

/** Every iteration of every run in the order of measuring, one colour a run. */
function samplesChart(runs, metric, unit) {
  const samples = runs.map((r) => r.samples[metric] ?? []);
  const values = samples.flat();
  if (values.length === 0) return el("p", {}, "Its raw samples are not kept any more.");
  let low = Infinity, most = -Infinity;
  for (const v of values) [low, most] = [Math.min(low, v), Math.max(most, v)];
  const spare = (most - low) * 0.08 || Math.abs(most) * 0.05 || 1;
  const x = (n) => edge.left + 6 + (width - edge.left - edge.right - 12) * n
    / Math.max(1, values.length - 1);
  const y = (v) => edge.top + (high - edge.top - edge.bottom)
    * (1 - (v - low + spare) / (most - low + 2 * spare));
  let n = 0;
  return still(width, high, `${count(values.length, "sample")} of ${count(runs.length, "run")}`,
    valueAxis({ low: low - spare, high: most + spare, unit, width, edge, y, size: most }),
    samples.map((some, k) => svg("path", { class: `run raw s${k % colours}`,
      d: some.map((v) => `M${x(n++).toFixed(1)},${y(v).toFixed(1)}h0`).join("") })),
    written(edge.left, high - 6, `${count(runs.length, "run")}, one colour each`),
    written(width - edge.right, high - 6, "last iteration", "end"));
}

function samplesOf(history, i) {
  const place = el("div", { class: "samples" });
  const { series } = history;
  const show = async () => {
    try {
      const found = await list(`runs?build=${history.build[i]}&workload=${series.workload}${
        history.job[i] === null ? "" : `&job=${history.job[i]}`}&limit=100`);
      const runs = await Promise.all(found.toReversed().map((r) => get(`runs/${r.id}`)));
      place.replaceChildren(samplesChart(runs, series.metric, series.unit), el("p", {
        class: "soft" }, runs.map((r, k) => [k > 0 && ", ", link(`api/v1/runs/${r.id}`,
        `run ${r.id}`), r.status === "measured" ? "" : ` (${r.status.replaceAll("_", " ")})`])));
    } catch (error) {
      place.replaceChildren(failure("Its samples cannot be shown.", error));
    }
  };
  return [el("button", { type: "button", onclick: show }, "Raw samples"), place];
}

/** Nodes about this build in each series; `regressions` that may have come in with it. */
export function detailOf(histories, build, regressions) {
  const measured = histories.filter((h) => h.indexOf.has(build));
  const [first] = measured, i = first.indexOf.get(build);
  const here = regressions.filter((r) => r.bad.id === build);
  const sha = once(`builds/${build}`).then((b) => (b.commit ? commit(b.commit) : "not known"));
  return [histories.map((h, k) => h.indexOf.has(build)
    && valueOf(h, h.indexOf.get(build), k, histories.length > 1)),
  first.day[i] === null ? version(first.version[i])
    : link(`#/builds?day=${dateOf(first.day[i])}`, version(first.version[i])),
  ", commit ", later(sha), ", ", link(`#/compare?bad=${build}`, "compare this build"),
  here.map((r) => [", ", link(`#/regressions/${r.id}`, `regression ${r.id}`)]), el("br"),
  placeOf(first, i), sessionOf(first, i), ", ", profileOf(first, build), el("br"),
  samplesOf(first, i)].flat(Infinity).filter(Boolean);
}
