// Choosing a series: words of a workload's name, a metric, and what matches.

import { get, metricNames } from "./api.js";
import { el, failure, link, metricName, note, quantity } from "./dom.js";

/** Words in any part of a workload's name become a glob; a glob is taken as it is. */
export const globOf = (text) => {
  const words = text.trim().split(/\s+/).filter(Boolean);
  return words.length === 1 && /[*?]/.test(words[0]) ? words[0] : ["", ...words, ""].join("**");
};

function row(s) {
  return el("li", {}, link(`#/series/${s.id}`, el("code", {}, s.workload_name),
    metricName(s.metric),
    el("span", { class: "soft" }, s.level ? quantity(s.level.value, s.unit) : "no level yet")));
}

async function fillResults(results, status, text, metric, isStale) {
  const query = new URLSearchParams({ workload: globOf(text), limit: "50" });
  if (metric) query.set("metric", metric);
  try {
    const page = await get(`series?${query}`);
    if (isStale()) return;
    results.replaceChildren(...page.items.map(row));
    status.replaceChildren(page.items.length === 0
      ? note(text || metric ? "No series matches."
        : "No series yet: they appear with the first night.")
      : note(page.next_cursor ? `The first ${page.items.length}; more words find fewer.`
        : `${page.items.length} series`));
  } catch (error) {
    if (!isStale()) status.replaceChildren(failure("Cannot search.", error));
  }
}

const last = { text: "", metric: "" };

export const searchPage = {
  title: () => "Series",
  load: metricNames,
  view(metrics) {
    let asked = 0;
    let timer = 0;
    const results = el("ul", { class: "results" });
    const status = el("div", { role: "status" }, note("Loading …"));
    const text = el("input",
      { type: "search", id: "words", placeholder: "e.g. actor cpu eager, or python/*/eval/**",
      autocomplete: "off", spellcheck: "false" });
    const metric = el("select", { id: "metric" }, el("option", { value: "" }, "any"),
      metrics.map((name) => el("option", { value: name }, metricName(name))));
    text.value = last.text;
    metric.value = last.metric;
    const ask = () => {
      const mine = ++asked;
      Object.assign(last, { text: text.value, metric: metric.value });
      fillResults(results, status, text.value, metric.value, () => mine !== asked);
    };
    text.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 200); });
    metric.addEventListener("change", ask);
    ask();
    return [el("section", {}, el("h2", {}, "Series"),
      el("form", { class: "search", role: "search",
        onsubmit: (event) => { event.preventDefault(); ask(); } },
        el("label", {}, "Words of the workload", text), el("label", {}, "Metric", metric)),
      status, results)];
  },
};
