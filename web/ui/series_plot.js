// Series over builds or time, with pan and zoom.

import { list } from "./api.js";
import { chartKey, sample, valueAxis } from "./chart.js";
import { el, rule, svg } from "./dom.js";
import { workload } from "./parts.js";
import { detailOf } from "./series_detail.js";
import { colours, drawLine, edge, events, height, inView, rangeOf, timeAxis, verticals }
  from "./series_drawing.js";
import { factsChanged, firstFrom, places } from "./series_history.js";
import { median } from "./statistics.js";
import { change, count, metricName, quantity, workloadName } from "./words.js";

const dayMilliseconds = 86400000;
const mostRunsShown = 240;  // builds in view, of which single runs are drawn

const remember = new Map();  // what a reader has chosen and where they have zoomed to, by plot

/** What a plot of these lines shows, and what is chosen in it. */
class Plot {
  constructor(lines, order, options) {
    Object.assign(this, { lines, order }, options);
    const { place } = order, ends = order.builds.map((build) => place.get(build));
    this.places = Float64Array.from(ends);
    // Nights without a value may be the newest ones.
    const newest = this.byTime ? lines[0].history.without.at(-1)?.day ?? -Infinity : -Infinity;
    this.whole = { from: ends[0] - 1, to: Math.max(ends.at(-1), newest) + 1 };
    const has = place.has(this.around);
    const start = { view: { ...this.whole }, chosen: has ? this.around : order.builds.at(-1) };
    const key = `${this.id}/${lines.map((l) => l.history.series.id)}/${this.byTime}`;
    this.kept = remember.get(key) ?? start;
    if (!remember.has(key) && has) {
      this.move(place.get(this.around) - 45, place.get(this.around) + 30);
    }
    remember.set(key, this.kept);
    this.width = 0;
    this.placeEvents();
    this.detail = el("div", { class: "detail" });
    const { series } = lines[0].history;
    this.frame = el("div", { class: "chart pan", tabindex: 0, role: "slider", id: this.id,
      "aria-label": `${metricName(series.metric)} of ${workloadName(series.workload_name)}, ` +
        "build by build; arrow keys choose a build, plus and minus zoom",
      "aria-valuemin": 1, "aria-valuemax": order.builds.length });
    listen(this);
    this.choose(Math.max(0, order.builds.indexOf(this.kept.chosen)));
  }

  placeEvents() {
    const { history, at } = this.lines[0];
    const between = (day) => firstFrom(history.day, day) - 0.5;
    this.without = history.without.map((night) => ({ ...night,
      place: this.byTime ? night.day : between(night.day) }));
    this.changed = history.build.flatMap((_, i) => (i > 0
      && history.factsId[i] !== history.factsId[i - 1] && factsChanged(history, i - 1, i)
      ? [{ place: at[i] }] : []));
    const marked = (m) => Date.parse(m.at) / dayMilliseconds;
    this.verticals = [...this.regressions.map((r) => ({ place: this.order.place.get(r.bad.id),
      name: "mark", words: `regression ${r.id}`, href: `#/regressions/${r.id}` })),
    ...this.improvements.map((i) => ({ place: this.order.place.get(i.build.id),
      name: "improved", words: `improved ${change(i.ratio)}` })),
    ...this.marks.map((m) => ({ place: this.byTime ? marked(m) : between(Math.floor(marked(m))),
      name: "explained", words: "mark" }))].toSorted((a, b) => a.place - b.place);
  }

  resize() {
    const next = Math.max(280, Math.round(this.frame.clientWidth));
    if (next === this.width) return;
    this.width = next;
    this.draw();
  }

  /** Where values lie now: {x, y, slot, ...}, and the ends of the value axis. */
  scale() {
    const { view } = this.kept, { width } = this;
    const [low, high] = rangeOf(this.lines, view);
    const across = width - edge.left - edge.right;
    const [from, to] = inView(this.places, view);
    return { x: (v) => edge.left + across * (v - view.from) / (view.to - view.from),
      y: (v) => edge.top + (height - edge.top - edge.bottom) * (1 - (v - low) / (high - low)),
      slot: across / Math.max(1, to - from), width, view, low, high };
  }

  /** Draws with the next frame, however often it is asked for until then. */
  soon() {
    this.asked ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.asked = undefined;
    if (!this.width) return;
    const scale = this.scale(), { view, chosen } = this.kept, { x, y, width } = scale;
    const { unit } = this.lines[0].history.series;
    const clip = `clip-${this.id}`, place = x(this.order.place.get(chosen));
    this.frame.replaceChildren(svg("svg", { viewBox: `0 0 ${width} ${height}`,
      "aria-hidden": "true" },
    svg("clipPath", { id: clip }, svg("rect", { x: edge.left, y: 0,
      width: width - edge.left - edge.right, height })),
    valueAxis({ low: scale.low, high: scale.high, width, edge, y,
      unit: this.lines.length > 1 ? "%" : unit }),
    timeAxis(view, width, x, this.byTime, this.order.names),
    svg("g", { "clip-path": `url(#${clip})` },
      this.lines.map((line, k) => drawLine(line, k, scale)),
      events(this, scale),
      rule("chosen-line", place, place, edge.top, height - edge.bottom)),
    verticals(this, scale)));
    this.wantRuns();
  }

  /** Fetches the single runs of what is in view, once the reader has zoomed in that far. */
  wantRuns() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.lines.forEach(async (line) => {
      const { history, at, values } = line;
      const [from, to] = inView(at, this.kept.view);
      const builds = history.build.slice(from, to).filter((build) => !values.has(build));
      if (to - from > mostRunsShown || builds.length === 0) return;
      builds.forEach((build) => values.set(build, []));  // asked for once
      const points = await list(`series/${history.series.id}/points?limit=500&fields=build,values` +
        `&first=${Math.min(...builds)}&last=${Math.max(...builds)}`).catch(() => []);
      points.forEach((p) => values.set(p.build, p.values));
      if (points.length > 0) this.soon();
    }), 150);
  }

  choose(index) {
    const { builds, names, place } = this.order;
    const i = Math.min(Math.max(index, 0), builds.length - 1), { view } = this.kept;
    this.kept.chosen = builds[i];
    this.index = i;
    const at = place.get(builds[i]), size = view.to - view.from;
    if (at < view.from || at > view.to) this.move(at - size / 2, at + size / 2);
    const { history } = this.lines[0], own = history.indexOf.get(builds[i]);
    this.frame.setAttribute("aria-valuenow", i + 1);
    this.frame.setAttribute("aria-valuetext", `${names[i]}: ${own === undefined ? "not measured"
      : quantity(history.location[own], history.series.unit)}`);
    this.detail.replaceChildren(...detailOf(this.lines.map((l) => l.history), builds[i],
      this.regressions));
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
    this.soon();
  }

  under(event) {
    const { from, to } = this.kept.view;
    return from + (to - from) * (event.clientX - this.frame.getBoundingClientRect().left
      - edge.left) / (this.width - edge.left - edge.right);
  }

  /** The index of the build nearest to a place. */
  nearest(place) {
    const after = Math.min(firstFrom(this.places, place), this.places.length - 1);
    return after > 0 && place - this.places[after - 1] < this.places[after] - place ? after - 1
      : after;
  }
}

function listen(plot) {
  const { frame } = plot;
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.shiftKey) return;  // plain scrolling scrolls the page
    event.preventDefault();
    plot.zoom(event.deltaY + event.deltaX > 0 ? 1.25 : 0.8, plot.under(event));
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
    plot.soon();
  });
  frame.addEventListener("click", (event) => {
    if (held?.moved || event.target.closest(".leads")) return;
    plot.choose(plot.nearest(plot.under(event)));
  });
  frame.addEventListener("keydown", (event) => {
    const i = plot.index;
    const to = { ArrowLeft: i - 1, ArrowDown: i - 1, ArrowRight: i + 1, ArrowUp: i + 1, Home: 0,
      End: plot.order.builds.length - 1, PageDown: i - 10, PageUp: i + 10 }[event.key];
    const by = { "+": 0.8, "=": 0.8, "-": 1.25 }[event.key];
    if (to === undefined && by === undefined) return;
    event.preventDefault();
    if (by) plot.zoom(by, plot.order.place.get(plot.kept.chosen));
    else plot.choose(to);
  });
  new ResizeObserver(() => requestAnimationFrame(() => plot.resize())).observe(frame);
}

function tools(plot) {
  const { whole } = plot, what = plot.byTime ? "days" : "builds";
  const button = (words, act) => el("button", { type: "button", onclick: act }, words);
  const show = (from) => () => { plot.move(from, whole.to); plot.soon(); };
  return el("p", { class: "tools" }, button("Zoom in", () => plot.zoom(0.5)),
    button("Zoom out", () => plot.zoom(2)), [30, 90, 365].filter((d) => d < whole.to - whole.from)
      .map((d) => button(`last ${d} ${what}`, show(whole.to - d))),
    button("All", show(whole.from)));
}

/**
 * The plot with its tools. `histories` as seriesHistory() gives them; of several each is relative
 * to its own median. options: {regressions, improvements, marks, byTime, id, around}; the last is a
 * build to begin with.
 */
export function seriesPlot(histories, options = {}) {
  const all = { regressions: [], improvements: [], marks: [], byTime: true, id: "plot",
    ...options };
  const shown = histories.filter((h) => h.size > 0);
  if (shown.length === 0) {
    return el("p", { class: "note" }, "No build of this series has been measured in a night yet.");
  }
  const order = places(shown, all.byTime);
  const plot = new Plot(shown.map((history, k) => ({ history, at: order.at[k], values: new Map(),
    factor: shown.length > 1 ? median([...history.location]) / 100 : 1 })), order, all);
  return [plot.frame, tools(plot), keyOf(plot), plot.detail];
}

function keyOf({ lines, without, changed }) {
  const line = (kind) => sample(svg("path", { class: kind, d: "M0,6h24" }));
  const several = lines.length > 1, { history } = lines[0];
  return chartKey([
    ...(several ? lines.map(({ history: { series } }, k) =>
      [sample(svg("circle", { class: `point s${k % colours}`, cx: 12, cy: 6, r: 4 })),
        workload(series.workload_name, `#/series/${series.id}`)])
      : [[sample(svg("circle", { class: "point s0", cx: 12, cy: 6, r: 4 })),
        "a build, with its 95 % interval"],
      [sample(svg("path", { class: "run s0", d: "M12,6h0" })), "a run (when zoomed in)"]]),
    history.level.some((v) => !Number.isNaN(v)) && [line("path level"),
      several ? "level of the first; each is in percent of its own median"
        : "level that was accepted"],
    history.noise !== null && [sample(svg("rect", { class: "noise", width: 24, height: 12 })),
      "A/A noise: 95 % of nights without a change"],
    without.length > 0 && [sample(svg("path", { class: "without", d: "M9,3l6,6m0,-6l-6,6" })),
      count(without.length, "night without a value", "nights without a value")],
    changed.length > 0 && [sample(svg("path", { class: "changed", d: "M12,2l4,8h-8z" })),
      "the machine was changed"]]);
}
