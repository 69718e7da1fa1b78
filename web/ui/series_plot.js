// Series over builds or time, with pan and zoom.

import { chartKey, sample, valueAxis } from "./chart.js";
import { code, commit, el, link, rule, strong, svg, within } from "./dom.js";
import { workload } from "./parts.js";
import { colours, drawLine, edge, events, height, places, rangeOf, timeAxis, usual }
  from "./series_drawing.js";
import { median } from "./statistics.js";
import { once } from "./api.js";
import { change, count, metricName, quantity, workloadName } from "./words.js";

/** What is known of the chosen build in each series. */
function describe(lines, build, regressions) {
  const place = el("span", {}, "commit …");
  once(`builds/${build}`).then(
    (b) => place.replaceChildren("commit ", b.commit ? commit(b.commit) : "not known"),
    (error) => place.replaceChildren(error.message));
  const here = regressions.filter((r) => r.bad.id === build);
  let version = "";
  const rows = lines.map(({ series, points }, k) => {
    const i = points.findIndex((p) => p.build === build);
    if (i < 0) return null;
    const p = points[i];
    version = p.version;
    return [lines.length > 1 && el("span", { class: `swatch s${k % colours}` }, "● "),
      strong(quantity(p.location, series.unit)),
      within(` (${quantity(p.low, series.unit, p.location)} to ${
        quantity(p.high, series.unit, p.location)}, ${count(p.values.length, "run")})`),
      i > 0 && `, ${change(p.location / points[i - 1].location)} against the build before`,
      el("br")];
  });
  return [rows, code(version), ", ", place, ", ",
    link(`#/compare?bad=${build}`, "compare this build"),
    here.map((r) => [", ", link(`#/regressions/${r.id}`, `regression ${r.id}`)])]
    .flat(Infinity).filter(Boolean);
}

const remember = new Map();  // what a reader has chosen and where they have zoomed to, by plot

/** What a plot of these lines shows, and what is chosen in it. */
class Plot {
  constructor(lines, at, options) {
    Object.assign(this, { lines, at, ...options });
    this.order = [...at.keys()];
    const ends = [...at.values()];
    this.whole = { from: ends[0] - 1, to: ends.at(-1) + 1 };
    const start = { view: { ...this.whole }, chosen: at.has(this.around) ? this.around
      : this.order.at(-1) };
    const key = `${this.id}/${lines.map((l) => l.series.id)}/${this.byTime}`;
    this.kept = remember.get(key) ?? start;
    if (!remember.has(key) && at.has(this.around)) {
      this.move(at.get(this.around) - 45, at.get(this.around) + 30);
    }
    remember.set(key, this.kept);
    this.factor = lines.map(({ points }) =>
      (lines.length > 1 ? median(points.map((p) => p.location)) / 100 : 1));
    this.names = this.order.map((build) => {
      const p = lines.flatMap((l) => l.points).find((one) => one.build === build);
      return p?.date ?? p?.version;
    });
    this.width = 0;
    this.detail = el("div", { class: "detail" });
    this.frame = el("div", { class: "chart pan", tabindex: 0, role: "slider", id: this.id,
      "aria-label": `${metricName(lines[0].series.metric)} of ${
        workloadName(lines[0].series.workload_name)}, build by build; arrow keys choose a build, ` +
        "plus and minus zoom", "aria-valuemin": 1, "aria-valuemax": this.order.length });
    listen(this);
    this.choose(Math.max(0, this.order.indexOf(this.kept.chosen)));
  }

  resize() {
    const next = Math.max(280, Math.round(this.frame.clientWidth));
    if (next === this.width) return;
    this.width = next;
    this.draw();
  }

  /** Where values lie now: {x, y, slot, ...}, and the ends of the value axis. */
  scale() {
    const { view } = this.kept, { width, factor, at } = this;
    const [low, high] = rangeOf(this.lines, view, factor);
    const across = width - edge.left - edge.right, size = view.to - view.from;
    return { x: (v) => edge.left + across * (v - view.from) / size,
      y: (v) => edge.top + (height - edge.top - edge.bottom) * (1 - (v - low) / (high - low)),
      slot: across / size, factor, width, at, low, high };
  }

  draw() {
    if (!this.width) return;
    const scale = this.scale(), { view, chosen } = this.kept, { x, y, width } = scale;
    const unit = this.lines.length > 1 ? "% of the median" : this.lines[0].series.unit;
    const clip = `clip-${this.id}`, place = x(this.at.get(chosen));
    this.frame.replaceChildren(svg("svg", { viewBox: `0 0 ${width} ${height}`,
      "aria-hidden": "true" },
    svg("clipPath", { id: clip }, svg("rect", { x: edge.left, y: 0,
      width: width - edge.left - edge.right, height })),
    valueAxis({ low: scale.low, high: scale.high, unit, width, edge, y }),
    timeAxis(view, width, x, this.byTime, this.names),
    svg("g", { "clip-path": `url(#${clip})` },
      this.lines.map((line, k) => drawLine(line, k, scale)),
      rule("chosen-line", place, place, edge.top, height - edge.bottom)),
    events(view, this, scale)));
  }

  choose(index) {
    const i = Math.min(Math.max(index, 0), this.order.length - 1), { view } = this.kept;
    this.kept.chosen = this.order[i];
    const place = this.at.get(this.kept.chosen), size = view.to - view.from;
    if (place < view.from || place > view.to) this.move(place - size / 2, place + size / 2);
    const first = this.lines[0].points.find((p) => p.build === this.kept.chosen);
    this.frame.setAttribute("aria-valuenow", i + 1);
    this.frame.setAttribute("aria-valuetext", `${this.names[i]}: ${
      first ? quantity(first.location, this.lines[0].series.unit) : "not measured"}`);
    this.detail.replaceChildren(...describe(this.lines, this.kept.chosen, this.regressions));
    this.draw();
  }

  move(from, to) {
    const { whole } = this;
    const size = Math.min(Math.max(to - from, 4), whole.to - whole.from);
    const start = Math.min(Math.max(from, whole.from), whole.to - size);
    this.kept.view = { from: start, to: start + size };
  }

  zoom(by, around = (this.kept.view.from + this.kept.view.to) / 2) {
    const { from, to } = this.kept.view;
    this.move(around - (around - from) * by, around + (to - around) * by);
    this.draw();
  }

  under(event) {
    const { from, to } = this.kept.view;
    return from + (to - from) * (event.clientX - this.frame.getBoundingClientRect().left
      - edge.left) / (this.width - edge.left - edge.right);
  }

  nearest(place) {
    const far = (build) => Math.abs(this.at.get(build) - place);
    return this.order.reduce((best, build) => (far(build) < far(best) ? build : best));
  }
}

function listen(plot) {
  const { frame } = plot;
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.shiftKey) return;  // plain scrolling scrolls the page
    event.preventDefault();
    plot.zoom(event.deltaY > 0 ? 1.25 : 0.8, plot.under(event));
  }, { passive: false });
  let held = null;
  frame.addEventListener("pointerdown", (event) => {
    held = { x: event.clientX, view: { ...plot.kept.view }, moved: false };
  });
  frame.addEventListener("pointermove", (event) => {
    if (!held || !(event.buttons & 1)) return;
    held.moved ||= Math.abs(held.x - event.clientX) > 4;
    if (!held.moved) return;
    const by = (held.x - event.clientX) * (held.view.to - held.view.from)
      / (plot.width - edge.left - edge.right);
    plot.move(held.view.from + by, held.view.to + by);
    plot.draw();
  });
  frame.addEventListener("click", (event) => {
    if (held?.moved || event.target.closest(".leads")) return;
    plot.choose(plot.order.indexOf(plot.nearest(plot.under(event))));
  });
  frame.addEventListener("keydown", (event) => {
    const i = plot.order.indexOf(plot.kept.chosen);
    const to = { ArrowLeft: i - 1, ArrowDown: i - 1, ArrowRight: i + 1, ArrowUp: i + 1, Home: 0,
      End: plot.order.length - 1, PageDown: i - 10, PageUp: i + 10 }[event.key];
    const by = { "+": 0.8, "=": 0.8, "-": 1.25 }[event.key];
    if (to === undefined && by === undefined) return;
    event.preventDefault();
    if (by) plot.zoom(by, plot.at.get(plot.kept.chosen));
    else plot.choose(to);
  });
  new ResizeObserver(() => requestAnimationFrame(() => plot.resize())).observe(frame);
}

function tools(plot) {
  const { whole } = plot;
  const button = (words, act) => el("button", { type: "button", onclick: act }, words);
  const show = (from) => () => { plot.move(from, whole.to); plot.draw(); };
  return el("p", { class: "tools" }, button("Zoom in", () => plot.zoom(0.5)),
    button("Zoom out", () => plot.zoom(2)), [30, 90, 365].filter((d) => d < whole.to - whole.from)
      .map((d) => button(`last ${d}`, show(whole.to - d))), button("All", show(whole.from)));
}

/**
 * The plot with its tools. `given`: [{series, points}], oldest first; of several each is relative
 * to its own median. options: {regressions, marks, byTime, id, around}: a build to begin with.
 */
export function seriesPlot(given, options = {}) {
  const all = { regressions: [], marks: [], byTime: true, id: "plot", ...options };
  const at = places(given, all.byTime);
  const lines = given.filter(({ points }) => points.length > 0).map(({ series, points }) => ({
    series, points: points.map((p) => ({ ...p, at: at.get(p.build) })), usual: usual(points) }));
  if (lines.length === 0) {
    return el("p", { class: "note" }, "No build of this series has been measured in a night yet.");
  }
  const plot = new Plot(lines, at, all);
  return [plot.frame, tools(plot), keyOf(lines), plot.detail];
}

const keyOf = (lines) => chartKey([
  ...(lines.length > 1 ? lines.map(({ series }, k) =>
    [sample(svg("circle", { class: `point s${k % colours}`, cx: 12, cy: 6, r: 4 })),
      workload(series.workload_name, `#/series/${series.id}`)])
    : [[sample(svg("circle", { class: "point s0", cx: 12, cy: 6, r: 4 })),
      "a build, with its 95 % interval"],
    [sample(svg("circle", { class: "run s0", cx: 12, cy: 6, r: 2.5 })), "a run (when zoomed in)"]]),
  [sample(svg("rect", { class: "noise", width: 24, height: 12 })),
    lines.length > 1 ? "usual noise of the first" : "usual noise"]]);
