// Series over builds or time, with pan and zoom: each build's location with its interval, every run
// as a faint dot, the usual noise, marks, missing nights, and where regressions came in.

import { chartKey, sample, valueAxis } from "./chart.js";
import { commit, el, link, saveText, svg } from "./dom.js";
import { workload } from "./parts.js";
import { median, spread } from "./statistics.js";
import { once } from "./api.js";
import { change, count, csv, metricName, quantity, shortMiddle, workloadName }
  from "./words.js";

const height = 300;
const edge = { top: 26, right: 12, bottom: 30, left: 68 };
const dayMilliseconds = 86400000;
const colours = 5;

/** Days since 1970 of a build; its place among all where it has no date. */
const dayOf = (point, i) => (point.date ? Date.parse(point.date) / dayMilliseconds : i);

/** All builds of all series in order, so that one build has one place. */
function places(lines, byTime) {
  const known = new Map();
  for (const { points } of lines) points.forEach((p, i) => known.set(p.build, dayOf(p, i)));
  const order = [...known].toSorted((a, b) => a[1] - b[1]);
  return new Map(order.map(([build, day], i) => [build, byTime ? day : i]));
}

/**
 * Rolling level and noise of up to 15 builds before each: [{level, noise}]. It begins anew where
 * three builds in a row lie beyond the noise on one side.
 */
function usual(points) {
  let start = 0, last = null;
  return points.map((_, i) => {
    const newest = points.slice(Math.max(0, i - 2), i + 1).map((p) => p.location);
    const off = last ? newest.map((v) => (v - last.level) / Math.max(last.noise,
      0.01 * last.level)) : [];
    if (off.length === 3 && (off.every((d) => d > 1) || off.every((d) => d < -1))) start = i - 2;
    const around = points.slice(Math.max(start, i - 14), i + 1).map((p) => p.location);
    const now = { level: median(around), noise: 2 * spread(around) };
    // A step's first two builds are judged by what was usual before it.
    if (start === i - 2 || !off.some((d) => Math.abs(d) > 1)) last = now;
    return last ?? now;
  });
}

function rangeOf(lines, view, factor) {
  let low = Infinity, high = -Infinity;
  for (const [k, { points }] of lines.entries()) {
    for (const p of points) {
      if (p.at < view.from || p.at > view.to) continue;
      low = Math.min(low, p.low / factor[k], ...p.values.map((v) => v / factor[k]));
      high = Math.max(high, p.high / factor[k], ...p.values.map((v) => v / factor[k]));
    }
  }
  if (!Number.isFinite(low)) [low, high] = [0, 1];
  // At least 6 % from top to bottom, so that noise does not look like a mountain range.
  const spare = Math.max((Math.abs(high) * 0.06 - (high - low)) / 2, (high - low) * 0.06);
  return [low - spare, high + spare];
}

/** Where the newest point of at most two pixels is drawn, so that a year stays quick. */
function thinned(points, x) {
  const kept = [];
  let last = -Infinity;
  for (const p of points) {
    if (x(p.at) - last < 1.5) continue;
    kept.push(p);
    last = x(p.at);
  }
  return kept;
}

function drawLine({ points, usual: noise }, k, { x, y, factor, slot }) {
  const tone = `s${k % colours}`;
  const few = thinned(points, x);
  const band = points.map((p, i) => [p.at, noise[i]]);
  const path = (sign) => band.map(([at, u]) =>
    `${x(at).toFixed(1)},${y((u.level + sign * u.noise) / factor[k]).toFixed(1)}`);
  return [
    k === 0 && band.length > 2 && svg("polygon", { class: "noise",
      points: [...path(1), ...path(-1).reverse()].join(" ") }),
    svg("polyline", { class: `path ${tone}`, points: few.map((p) =>
      `${x(p.at).toFixed(1)},${y(p.location / factor[k]).toFixed(1)}`).join(" ") }),
    slot > 5 && points.map((p) => [p.values.map((v, i) => svg("circle", { class: `run ${tone}`,
      r: 2.2, cx: x(p.at) + Math.min(slot * 0.5, 12) * ((i + 0.5) / p.values.length - 0.5),
      cy: y(v / factor[k]) })),
    svg("line", { class: `interval ${tone}`, x1: x(p.at), x2: x(p.at),
      y1: y(p.low / factor[k]), y2: y(p.high / factor[k]) })]),
    few.map((p) => svg("circle", { class: `point ${tone}`, r: slot < 5 ? 1.6 : 3.5, cx: x(p.at),
      cy: y(p.location / factor[k]) }))];
}

function timeAxis(view, width, x, byTime, names) {
  const nodes = [], wanted = Math.max(2, Math.floor((width - edge.left) / 110));
  const days = view.to - view.from;
  const step = [1, 2, 7, 14, 30, 60, 90, 180, 365, 730].find((s) => days / s <= wanted) ?? 1460;
  for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
    const name = byTime ? new Date(at * dayMilliseconds).toISOString().slice(0, 10) : names[at];
    if (!name || x(at) < edge.left + 30 || x(at) > width - edge.right - 34) continue;
    nodes.push(svg("line", { class: "tick", x1: x(at), x2: x(at), y1: height - edge.bottom,
      y2: height - edge.bottom + 4 }),
    svg("text", { x: x(at), y: height - 10, "text-anchor": "middle" }, name));
  }
  return nodes;
}

/** Vertical lines where regressions came in and where marks lie. */
function events(view, plot, { x, width, at }) {
  const line = (place, name, words, href) => {
    if (place === undefined || place < view.from || place > view.to) return null;
    const text = svg("text", { class: `${name}-name ${href ? "leads" : ""}`, x: x(place), y: 14,
      "text-anchor": x(place) > width - 60 ? "end" : x(place) < edge.left + 40 ? "start" : "middle",
      // No link, since none may lie in what is chosen by keys: the chosen build's detail has it.
      onclick: href && (() => { location.hash = href; }) }, words);
    return [svg("line", { class: name, x1: x(place), x2: x(place), y1: 18,
      y2: height - edge.bottom }),
    text];
  };
  return [plot.regressions.map((r) => line(at.get(r.bad.id), "mark", `regression ${r.id}`,
    `#/regressions/${r.id}`)),
  plot.marks.map((m) => line(plot.byTime ? Date.parse(m.at) / dayMilliseconds : undefined,
    "explained", "mark"))];
}

function svgText(node) {
  const copy = node.cloneNode(true);
  const from = [node, ...node.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  const kept = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size",
    "fill-opacity"];
  from.forEach((one, i) => {
    const style = getComputedStyle(one);
    for (const name of kept) to[i].setAttribute(name, style.getPropertyValue(name));
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("font-family", "sans-serif");
  return new XMLSerializer().serializeToString(copy);
}

const csvOf = (lines) => csv([["series", "workload", "metric", "unit", "build", "version", "date",
  "location", "low", "high", "runs"], ...lines.flatMap(({ series: s, points }) => points.map((p) =>
  [s.id, s.workload_name, s.metric, s.unit, p.build, p.version, p.date, p.location, p.low, p.high,
    p.values.join(" ")]))]);

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
      el("strong", {}, quantity(p.location, series.unit)),
      el("span", { class: "within" }, ` (${quantity(p.low, series.unit, p.location)} to ${
        quantity(p.high, series.unit, p.location)}, ${count(p.values.length, "run")})`),
      i > 0 && `, ${change(p.location / points[i - 1].location)} against the build before`,
      el("br")];
  });
  return [rows, el("code", {}, version), ", ", place, ", ",
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
      svg("line", { class: "chosen-line", x1: place, x2: place, y1: edge.top,
        y2: height - edge.bottom })),
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

  /** The place under the pointer. */
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

/** Pointer, wheel and keys of a plot. */
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
  const { whole, lines } = plot;
  const name = shortMiddle(lines[0].series.workload_name.replaceAll("/", "-"), 60);
  const button = (words, act) => el("button", { type: "button", onclick: act }, words);
  const show = (from) => () => { plot.move(from, whole.to); plot.draw(); };
  return el("p", { class: "tools" }, button("Zoom in", () => plot.zoom(0.5)),
    button("Zoom out", () => plot.zoom(2)), [30, 90, 365].filter((d) => d < whole.to - whole.from)
      .map((d) => button(`last ${d}`, show(whole.to - d))), button("All", show(whole.from)),
    button("CSV", () => saveText(csvOf(lines), `${name}.csv`, "text/csv")),
    button("SVG", () => saveText(svgText(plot.frame.querySelector("svg")), `${name}.svg`,
      "image/svg+xml")));
}

/**
 * The plot with its tools. `given`: [{series, points}], oldest point first; of several each is
 * shown relative to its own median. options: {regressions, marks, byTime, id, around}, where
 * `around` is a build that it shows first, with the weeks before and after it.
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
  return [plot.frame, tools(plot), keyOf(lines, plot), plot.detail];
}

const keyOf = (lines, plot) => chartKey([
  ...(lines.length > 1 ? lines.map(({ series }, k) =>
    [sample(svg("circle", { class: `point s${k % colours}`, cx: 12, cy: 6, r: 4 })),
      workload(series.workload_name, `#/series/${series.id}`)])
    : [[sample(svg("circle", { class: "point s0", cx: 12, cy: 6, r: 4 })),
      "a build, with its 95 % interval"],
    [sample(svg("circle", { class: "run s0", cx: 12, cy: 6, r: 2.5 })), "a run (when zoomed in)"]]),
  [sample(svg("rect", { class: "noise", width: 24, height: 12 })),
    lines.length > 1 ? "usual noise of the first" : "usual noise"],
  plot.regressions.length > 0 && [sample(svg("line", { class: "mark", x1: 12, x2: 12, y1: 0,
    y2: 12 })), "a regression came in"],
  plot.marks.length > 0 && [sample(svg("line", { class: "explained", x1: 12, x2: 12, y1: 0,
    y2: 12 })), "a shift that somebody explained"]]);
