// Choosing a series: words of a workload's name, its domain, a metric, a machine, and what matches,
// with its last weeks.

import { get, list, machines, wordsOf } from "../api.js";
import { column, el, failure, note, number, pagedTable, section, whole } from "../dom.js";
import { changeOf, className, spark, workload } from "../parts.js";
import { median } from "../statistics.js";
import { globOf, metricName, quantity } from "../words.js";

const shown = 30;  // points of a sparkline
const limit = 20;
const least = 0.03;

/** The newest night against what was usual before it. */
function lastChange(s, points) {
  if (points.length < 4) return "–";
  const before = points.slice(0, -1).map((p) => p.location), now = points.at(-1);
  const usual = median(before);
  if (!(usual > 0)) return "–";
  const ratio = now.location / usual;
  // Small moves are not worth a colour in a list.
  const [low, high] = Math.abs(ratio - 1) < least ? [1, 1] : [now.low / usual, now.high / usual];
  return changeOf({ ...s, ratio, low, high, before: usual, after: now.location });
}

/** Cells that are filled once the row's points are there. */
function later(s, draw) {
  const cell = el("span", { class: "later" });
  s.points.then((points) => cell.replaceChildren(draw(points)), () => cell.replaceChildren("–"));
  return cell;
}

const columns = (classes) => [
  whole("series", (s) => workload(s.workload_name, `#/series/${s.id}`)),
  column("metric", (s) => metricName(s.metric)),
  column("machine", (s) => className(classes, s.machine)),
  column(`last ${shown} builds`, (s) => later(s, spark)),
  number("level", (s) => (s.level ? quantity(s.level.value, s.unit) : "–")),
  number("newest", (s) => later(s, (points) => lastChange(s, points)))];

async function fill(results, status, { words, ...chosen }, classes, isStale) {
  const query = new URLSearchParams({ workload: globOf(words), limit: String(limit) });
  for (const [name, value] of Object.entries(chosen)) if (value) query.set(name, value);
  try {
    const pageAt = async (cursor) => {
      if (cursor) query.set("cursor", cursor);
      const page = await get(`series?${query}`);
      return { ...page, items: page.items.map((s) => ({ ...s,
        points: list(`series/${s.id}/points?limit=${shown}`) })) };
    };
    const page = await pageAt(null), { length } = page.items;
    if (isStale()) return;
    results.replaceChildren(length ? pagedTable(null, columns(classes), page, null, pageAt) : "");
    status.replaceChildren(length === 0
      ? note(words || Object.values(chosen).some(Boolean) ? "No series matches."
        : "No series yet: they appear with the first night.")
      : page.next_cursor ? "" : note(`${length} series`));
  } catch (error) {
    if (!isStale()) status.replaceChildren(failure("Cannot search.", error));
  }
}

export const page = {
  title: () => "Series",
  async load() {
    const [metrics, domains, classes] = await Promise.all([wordsOf("MetricName"),
      wordsOf("Domain"), machines()]);
    return { metrics, domains, classes };
  },
  view({ metrics, domains, classes }, _, query) {
    let asked = 0, timer = 0;
    const results = el("div", { class: "results" });
    const status = el("div", { role: "status" }, note("Loading …"));
    const words = el("input", { type: "search", id: "words", autocomplete: "off",
      placeholder: "e.g. bert cuda inductor, or python/*/eval/**", spellcheck: "false" });
    const choice = (id, values, nameOf) => el("select", { id },
      el("option", { value: "" }, "any"),
      values.map((value) => el("option", { value }, nameOf(value))));
    const metric = choice("metric", metrics, metricName);
    const domain = choice("domain", domains, (name) => name);
    const machine = choice("machine", classes.map((m) => String(m.id)),
      (id) => className(classes, Number(id)));
    const fields = { words, domain, metric, machine };
    for (const [name, field] of Object.entries(fields)) field.value = query.get(name) ?? "";
    const ask = () => {
      const mine = ++asked;
      const wish = Object.fromEntries(Object.entries(fields).map(([name, { value }]) =>
        [name, value]));
      const next = new URLSearchParams(Object.entries(wish).filter(([, value]) => value));
      history.replaceState(null, "", `#/series${next.size ? `?${next}` : ""}`);
      fill(results, status, wish, classes, () => mine !== asked);
    };
    words.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 200); });
    for (const select of [domain, metric, machine]) select.addEventListener("change", ask);
    ask();
    return [section("Series", el("form", { class: "search", role: "search",
      onsubmit: (event) => { event.preventDefault(); ask(); } },
    el("label", {}, "Words of the workload", words), el("label", {}, "Domain", domain),
    el("label", {}, "Metric", metric), el("label", {}, "Machine", machine)),
    status, results)];
  },
};
