// Two builds series by series: what differs beyond noise comes first, the rest is folded. A mean
// never hides a row.

import { all, csvOf, get, machines } from "../api.js";
import { column, commit, el, failure, fold, lead, link, note, number, pagedTable, saveText,
  section, tight, version, whole } from "../dom.js";
import { addressWith, changeOf, changeWithin, chooser, className, valuesOf, workload,
} from "../parts.js";
import { change, count, globOf, metricName, quantity, shortVersion } from "../words.js";

const choosers = ["domain", "suite", "metric", "machine", "variant", "device", "backend"];
const filters = [...choosers, "model", "least"];
const groups = ["domain", "suite", "model", "metric", "machine", "device", "backend"];
const first = 20, more = 200, saved = 500;  // rows of a page, of further ones, of one for a file

/** The pair of builds: as the address says, else the newest two of the kind. */
function pairOf(builds, query) {
  const nightlies = builds.filter((b) => b.kind === "nightly" && b.state === "proved")
    .toSorted((a, b) => (a.date < b.date ? 1 : -1));
  const bad = Number(query.get("bad")) || nightlies[0]?.id;
  const at = nightlies.findIndex((b) => b.id === bad);
  const good = Number(query.get("good")) || nightlies[at + 1]?.id;
  return { nightlies, good, bad };
}

const byOf = (query) => (groups.includes(query.get("by")) ? query.get("by") : "domain");

/** What REST is asked: the builds, the filters of the address, and more. */
function asked({ good, bad }, query, others) {
  const wish = new URLSearchParams({ good, bad });
  for (const name of filters) if (query.get(name)) wish.set(name, query.get(name));
  if (query.get("words")) wish.set("workload", globOf(query.get("words")));
  for (const [name, value] of Object.entries(others)) wish.set(name, value);
  return wish;
}

const nameOf = (by, value, classes) => (by === "metric" ? metricName(value)
  : by === "machine" ? className(classes, Number(value)) : value);

function form({ nightlies, good, bad, choices, classes }, query) {
  const builds = (id) => [...(nightlies.some((b) => b.id === id) ? [] : [[id, `build ${id}`]]),
    ...nightlies.map((b) => [b.id, b.date
      ? `${b.date} ${shortVersion(b.version)}` : shortVersion(b.version)])];
  const model = query.get("model");
  const words = el("input", { type: "search", id: "words", value: query.get("words"),
    placeholder: "e.g. bert inductor", onchange: () => {
      location.hash = addressWith("compare", query, { words: words.value.trim() });
    } });
  return el("form", { class: "search", onsubmit: (event) => event.preventDefault() },
    el("label", {}, "Words of the workload", words),
    chooser("compare", "good", "Compare with", builds(good), query, good),
    chooser("compare", "bad", "this build", builds(bad), query, bad),
    choosers.map((name) => chooser("compare", name, name, valuesOf(choices[name] ?? [],
      (value) => value, (value) => nameOf(name, value, classes)), query)),
    model && chooser("compare", "model", "model", [["", "all"], [model, model]], query));
}

const meansOf = (means) => means.map((m) => `${metricName(m.metric)} ${change(m.ratio)} over ${
  count(m.series, "series", "series")}`).join(", ");

const columns = (classes) => [
  whole("series", (s) => workload(s.workload, `#/series/${s.series}`)),
  column("metric", (s) => metricName(s.metric)),
  tight("machine", (s) => className(classes, s.machine)),
  number("before", (s) => quantity(s.before, s.unit, Math.max(s.before, s.after))),
  number("after", (s) => quantity(s.after, s.unit, Math.max(s.before, s.after))),
  number("change", changeWithin),
  column("measured", (s) => (s.source === "confirm" ? "side by side" : "nightly"))];

const groupColumns = (by, classes, query) => [
  whole(by, (g) => link(addressWith("compare", query, { [by]: g.name }),
    nameOf(by, g.name, classes))),
  number("worse", (g) => g.worse), number("better", (g) => g.better),
  number("alike", (g) => g.alike),
  whole("largest change", (g) => (g.largest ? [workload(g.largest.workload,
    `#/series/${g.largest.series}`), ` ${metricName(g.largest.metric)} `, changeOf(g.largest)]
    : "–")),
  whole("geometric means", (g) => meansOf(g.means))];

/** The list of one standing. `page`: its first page. */
function rowsOf(data, query, standing, page) {
  const total = data.compared.total[standing];
  return total === 0 ? note("Nothing.") : pagedTable(null, columns(data.classes), page, total,
    (cursor) => get(`compare?${asked(data, query, { standing, cursor, limit: more })}`));
}

/** What is alike is asked for when it is unfolded. */
function alike(data, query) {
  const place = el("div", {}, note("Loading …"));
  const node = fold("alike", `${data.compared.total.alike} alike`, place);
  let isAsked = false;
  const ask = async () => {
    if (!node.open || isAsked) return;
    isAsked = true;
    try {
      place.replaceChildren(rowsOf(data, query, "alike", await get(`compare?${asked(data, query,
        { standing: "alike", limit: first })}`)));
    } catch (error) {
      place.replaceChildren(failure("Cannot be shown.", error));
      isAsked = false;
    }
  };
  node.addEventListener("toggle", ask);
  ask();
  return node;
}

function saver(data, query) {
  const said = el("span", { role: "status" });
  return el("p", { class: "tools" }, el("button", { type: "button", onclick: async () => {
    try {
      saveText(await csvOf("compare", asked(data, query, { limit: saved })),
        `compare-${data.good}-${data.bad}.csv`, "text/csv");
    } catch (error) {
      said.replaceChildren(failure("Cannot be saved.", error));
    }
  } }, "Save all as CSV"), " ", said);
}

export const page = {
  title: () => "Compare",
  async load(_, query) {
    const [builds, classes] = await Promise.all([all("builds", 2000), machines()]);
    const pair = pairOf(builds, query);
    if (!pair.good || !pair.bad) return { ...pair, classes, compared: null };
    const by = byOf(query);
    const compared = await get(`compare?${asked(pair, query, { standing: "worse",
      limit: first })}`);
    const [better, groups_] = await Promise.all([
      get(`compare?${asked(pair, query, { standing: "better", limit: first })}`),
      get(`compare/groups?${asked(pair, query, { by, limit: first })}`)]);
    return { ...pair, classes, compared, better, by, groups: groups_, choices: compared.choices };
  },
  view(data, _, query) {
    const { compared, better, by, classes } = data;
    if (!compared) return [section("Compare", note("It takes two measured builds."))];
    const { total } = compared;
    const all_ = total.worse + total.better + total.alike;
    const least = Number(query.get("least") ?? 3);
    return [section("Compare two builds", form(data, query),
      lead(`${total.worse} worse, ${total.better} better, `,
        `${total.alike} alike of ${count(all_, "series", "series")}`),
      el("p", { class: "soft" }, "Between ", version(compared.good.version), " ",
        commit(compared.good.commit), " and ", version(compared.bad.version), " ",
        commit(compared.bad.commit), ". Beyond noise: the 95 % interval leaves out no change, and ",
        `the change is ${least}\u00a0% at least. Releases are not measured: take the nightly `,
        "builds of their days."),
      total.means.length > 0 && el("p", { class: "soft" },
        `Geometric means, for orientation: ${meansOf(total.means)}.`),
      all_ > 0 ? saver(data, query)
        : note("No series that fits has a value of both builds. Try a build of a day near by.")),
    ...all_ === 0 ? [] : [section("Worse", rowsOf(data, query, "worse", compared)),
    section("Better", rowsOf(data, query, "better", better)),
    section(`By ${by}`, el("form", { class: "search" }, chooser("compare", "by", "by",
      groups.map((name) => [name, name]), query, by)),
    pagedTable(null, groupColumns(by, classes, query), data.groups, null,
      (cursor) => get(`compare/groups?${asked(data, query, { by, cursor, limit: more })}`)))],
    total.alike > 0 && section(null, alike(data, query))];
  },
};
