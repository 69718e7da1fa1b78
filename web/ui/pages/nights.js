// Nights: sessions by runner on a line of time, why some of them do not count, and what the machine
// of a session was.

import { all, get, list } from "../api.js";
import { chartKey, sample, still } from "../chart.js";
import { column, lead, link, longTable, note, number, rule, section, state, strong, svg, table,
  tight, version, when, whole, written } from "../dom.js";
import { chooser, className, regressionLink, valuesOf } from "../parts.js";
import { changedFacts, sessionSection } from "../session.js";
import { count, duration, span } from "../words.js";

const [width, row, left] = [900, 22, 150];

/** A job's time: from when it was asked for to when its result came. */
const ended = (j) => j.stored_at ?? (j.state === "leased" || j.state === "queued"
  ? new Date().toISOString() : j.created_at);

const tone = (j) => (j.void || j.state === "failed" ? "void" : j.kind);

/** "06:00", and the day at midnight. */
const hourOf = (at) => {
  const text = new Date(at).toISOString();
  return text.slice(11, 16) === "00:00" ? text.slice(5, 10) : text.slice(11, 16);
};

/** The colours of the sessions that are drawn. */
const keyOf = (jobs) => chartKey([...new Set(jobs.map(tone))].map((name) => [
  sample(svg("rect", { class: `session ${name}`, x: 2, width: 20, height: 12, rx: 2 })),
  name === "void" ? "does not count" : name]));

function hours(from, to, x) {
  const step = Math.max(1, Math.ceil((to - from) / 3600000 / 8)) * 3600000, nodes = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    nodes.push(rule("axis", x(at), x(at), 0, "100%"),
      written(x(at) + 3, 11, hourOf(at)));
  }
  return nodes;
}

const runnerName = (runners, id) => runners.find((r) => r.id === id)?.name ?? `runner ${id}`;

function timeline(jobs, runners) {
  const by = Map.groupBy(jobs.filter((j) => j.runner !== null), (j) => j.runner);
  if (by.size === 0) return note("No session of this night was measured yet.");
  const drawn = [...by.values()].flat();
  const from = Math.min(...drawn.map((j) => Date.parse(j.created_at)));
  const to = Math.max(...drawn.map((j) => Date.parse(ended(j))), from + 60000);
  const x = (at) => left + (width - left - 8) * (at - from) / (to - from);
  const height = 20 + by.size * row;
  return [still(width, height, `Sessions of ${count(by.size, "runner")}, UTC; listed below`,
  hours(from, to, x), [...by].toSorted().map(([runner, some], i) => [
    written(0, 20 + row * i + 15, runnerName(runners, runner)),
    some.map((j) => svg("rect", { class: `session ${tone(j)}`, x: x(Date.parse(j.created_at)),
      width: Math.max(3, x(Date.parse(ended(j))) - x(Date.parse(j.created_at)) - 1),
      y: 20 + row * i + 3, height: row - 6, rx: 2 }, svg("title", {},
      `job ${j.id}, ${j.kind}, ${j.state}${j.void ? `, void: ${j.void}` : ""}`)))])), keyOf(drawn),
  note("Times are UTC, from when a session was asked for to its result.")];
}

const jobColumns = (runners, variants) => [
  number("job", (j) => link(`#/nights?night=${j.night}&session=${j.id}`, j.id)),
  column("for", (j) => j.kind),
  variants.length > 1 && column("variant", (j) => j.variant ?? "–"),
  column("runner", (j) => (j.runner === null ? "–" : runnerName(runners, j.runner))),
  column("state", (j) => [state(j.state), j.void && [" ", state("void")]]),
  whole("why", (j) => j.void ?? j.reason ?? "–"),
  number("runs", (j) => j.runs),
  number("took", (j) => (j.stored_at
    ? duration(j.created_at, j.stored_at) : "–"))].filter(Boolean);

const purpose = { screen: "measures the night's build", confirm:
  "measures a suspect build beside the one before it", bisect: "measures builds of a search",
calibrate: "learns how much a workload scatters", profile: "finds where time and memory go" };

/** What the kinds of these sessions are for. */
const purposes = (jobs) => {
  const kinds = Object.keys(purpose).filter((kind) => jobs.some((j) => j.kind === kind));
  return kinds.length > 0 ? note(kinds.map((kind) => `${kind}: ${purpose[kind]}`).join("; "))
    : null;
};

const nightColumns = [
  tight("night", (n) => link(`#/nights?night=${n.id}`,
    n.build?.date ?? n.started_at.slice(0, 10))),
  whole("build", (n) => (n.build ? version(n.build.version)
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
    ? [version(night.build.version), " ", state(night.state), `: ${count(jobs.length,
      "session")} (${span(spent)} of waiting and measuring), `, voids.length > 0
      ? strong(`${voids.length} void`) : "none void", ", ",
    count(night.regressions.length, "finding")] : night.reason,
  night.regressions.map((id) => [" ", regressionLink(id)]));
}

const titleOf = (night) =>
  `Night ${night.id}${night.build?.date ? `, ${night.build.date}` : ""}`;

export const page = {
  title: () => "Nights",
  async load(_, query) {
    const [nights, runners] = await Promise.all([list("nights?limit=400"),
      list("runners?limit=200")]);
    const chosen = Number(query.get("night")) || nights.find((n) => n.build)?.id;
    if (!chosen) return { nights, runners: [], night: null, jobs: [], session: null };
    const asked = Number(query.get("session"));
    const [night, jobs, session] = await Promise.all([get(`nights/${chosen}`),
      all(`jobs?night=${chosen}`), asked ? get(`jobs/${asked}`) : null]);
    const known = runners.map(({ id, name, machine }) => ({ id, name, machine }));
    return { nights, runners: known, night, session, jobs: jobs.filter((j) => j.kind !== "build") };
  },
  view({ nights, runners, night, session, jobs }, _, query) {
    if (!night) {
      return [section("Nights", note("No night yet. One starts when a new build appears."))];
    }
    const machines = runners.map((r) => r.machine);
    const ofVariant = (j) => j.variant ?? "";
    const variants = [...new Set(jobs.map(ofVariant).filter(Boolean))];
    const wanted = query.get("variant");
    const shown = jobs.filter((j) => !wanted || j.variant === wanted);
    const columns = jobColumns(runners, variants);
    const voids = shown.filter((j) => j.void || j.state === "failed");
    return [session && sessionSection(session, session.runner === null ? null
      : runnerName(runners, session.runner)),
    section(titleOf(night), summary(night, shown), night.build && night.reason
      ? note(night.reason) : null,
      variants.length > 1 && chooser("nights", "variant", "Variant",
        valuesOf(jobs.filter(ofVariant), ofVariant), query),
      timeline(shown, runners), voids.length > 0
        ? table("Sessions that do not count", columns, voids) : null,
      changedFacts(shown, machines, (id) => runnerName(runners, id),
        (id) => className(machines, id))),
    section("Sessions of this night", purposes(shown), longTable(null, columns, shown, 10)),
    section("Nights, the newest first", longTable(null, nightColumns, nights))];
  },
};
