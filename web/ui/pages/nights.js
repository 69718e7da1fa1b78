// Nights: sessions by runner on a line of time, and why some of them do not count.

import { all, get, list } from "../api.js";
import { still } from "../chart.js";
import { code, column, lead, link, longTable, note, number, rule, section, state, strong, svg,
  table, tight, when, whole, written } from "../dom.js";
import { count, duration, span } from "../words.js";

const [width, row, left] = [900, 22, 150];

/** A job's time: from when it was asked for to when its result came. */
const ended = (j) => j.stored_at ?? (j.state === "leased" || j.state === "queued"
  ? new Date().toISOString() : j.created_at);

const tone = (j) => (j.void || j.state === "failed" ? "void" : j.kind);

function hours(from, to, x) {
  const step = Math.max(1, Math.ceil((to - from) / 3600000 / 8)) * 3600000, nodes = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    nodes.push(rule("axis", x(at), x(at), 0, "100%"),
      written(x(at) + 3, 11, new Date(at).toISOString().slice(11, 16)));
  }
  return nodes;
}

function timeline(jobs, runners) {
  const by = Map.groupBy(jobs.filter((j) => j.runner !== null), (j) => j.runner);
  if (by.size === 0) return note("No session of this night was measured yet.");
  const from = Math.min(...jobs.map((j) => Date.parse(j.created_at)));
  const to = Math.max(...jobs.map((j) => Date.parse(ended(j))), from + 60000);
  const x = (at) => left + (width - left - 8) * (at - from) / (to - from);
  const height = 20 + by.size * row;
  const nameOf = (id) => runners.find((r) => r.id === id)?.name ?? `runner ${id}`;
  return still(width, height, `Sessions of ${count(by.size, "runner")}, UTC; listed below`,
  hours(from, to, x), [...by].toSorted().map(([runner, some], i) => [
    written(0, 20 + row * i + 15, nameOf(runner)),
    some.map((j) => svg("rect", { class: `session ${tone(j)}`, x: x(Date.parse(j.created_at)),
      width: Math.max(3, x(Date.parse(ended(j))) - x(Date.parse(j.created_at)) - 1),
      y: 20 + row * i + 3, height: row - 6, rx: 2 }, svg("title", {},
      `job ${j.id}, ${j.kind}, ${j.state}${j.void ? `, void: ${j.void}` : ""}`)))]));
}

const jobColumns = (runners) => [
  number("job", (j) => j.id),
  column("for", (j) => j.kind),
  column("runner", (j) => runners.find((r) => r.id === j.runner)?.name ?? "–"),
  column("state", (j) => [state(j.state), j.void && [" ", state("void")]]),
  whole("why", (j) => j.void ?? j.reason ?? "–"),
  number("runs", (j) => j.runs),
  number("took", (j) => (j.stored_at
    ? duration(j.created_at, j.stored_at) : "–"))];

const nightColumns = [
  tight("night", (n) => link(`#/nights?night=${n.id}`,
    n.build?.date ?? n.started_at.slice(0, 10))),
  whole("build", (n) => (n.build ? code(n.build.version)
    : n.reason ?? "waits for a build")),
  column("state", (n) => [state(n.state), n.cancelled_by && ` by ${n.cancelled_by}`]),
  column("by", (n) => n.trigger),
  tight("begun", (n) => when(n.started_at)),
  number("took", (n) => (n.finished_at && n.trigger !== "imported"
    ? duration(n.started_at, n.finished_at) : "–"))];

function summary(night, jobs) {
  const voids = jobs.filter((j) => j.void);
  const spent = jobs.filter((j) => j.stored_at).reduce((sum, j) =>
    sum + (Date.parse(j.stored_at) - Date.parse(j.created_at)) / 1000, 0);
  return lead(night.build
    ? [code(night.build.version), " ", state(night.state), `: ${count(jobs.length,
      "session")} (${span(spent)} of waiting and measuring), `, voids.length > 0
      ? strong(`${voids.length} void`) : "none void", ", ",
    count(night.regressions.length, "regression")] : night.reason,
  night.regressions.map((id) => [" ", link(`#/regressions/${id}`, `#${id}`)]));
}

export const page = {
  title: () => "Nights",
  async load(_, query) {
    const [nights, runners] = await Promise.all([list("nights?limit=60"),
      list("runners?limit=200")]);
    const chosen = Number(query.get("night")) || nights.find((n) => n.build)?.id;
    if (!chosen) return { nights, runners: [], night: null, jobs: [] };
    const [night, jobs] = await Promise.all([get(`nights/${chosen}`), all(`jobs?night=${chosen}`)]);
    const known = runners.map(({ id, name, machine }) => ({ id, name, machine }));
    return { nights, runners: known, night, jobs: jobs.filter((j) => j.kind !== "build") };
  },
  view({ nights, runners, night, jobs }) {
    if (!night) {
      return [section("Nights", note("No night yet. One starts when a new build appears."))];
    }
    const voids = jobs.filter((j) => j.void || j.state === "failed");
    return [section(`Night ${night.build?.date ?? night.id}`, summary(night, jobs),
      timeline(jobs, runners), voids.length > 0
        ? table("Sessions that do not count", jobColumns(runners), voids) : null),
    section("All nights", longTable(null, nightColumns, nights)),
    section("Its sessions", longTable(null, jobColumns(runners), jobs, 10))];
  },
};
