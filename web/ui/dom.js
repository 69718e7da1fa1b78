// Elements and words: building nodes without markup in strings, and numbers as a person reads them.

const svgSpace = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

/** An HTML element; attributes named on… are listeners, null children are left out. */
export const el = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);

export const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS(svgSpace, tag), attributes, children);

export const link = (href, ...children) => el("a", { href }, ...children);

/** A commit's short hash, which leads to what is known of it. */
export const commit = (sha) =>
  (sha ? link(`#/commits/${sha}`, el("code", { title: sha }, sha.slice(0, 12))) : "–");

/**
 * Hash and subject of {sha, subject, author}; only the hash where the service does not know the
 * subject.
 */
export const namedCommit = (named) => [commit(named.sha),
  named.subject ? [" ", el("span", { class: "subject", title: named.author }, named.subject)] : ""];

const scales = {
  s: [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]],
  bytes: [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "bytes"]],
};

/** The unit in which values of about `size` are shown: {size, name}. */
export function unitFor(unit, size) {
  const [base, per] = unit.split("/");
  const steps = scales[base];
  if (!steps) return { size: 1, name: unit };
  const [step, name] = steps.find(([s]) => Math.abs(size) >= s) ?? steps[steps.length - 1];
  return { size: step, name: per ? `${name}/${per}` : name };
}

/** Four significant digits and the unit that suits `size`. */
export function quantity(value, unit, size = value) {
  if (unit === "outcome") return value < 1.01 ? "passes" : value > 1.24 ? "fails"
    : "fails now and then";
  const { size: step, name } = unitFor(unit, size);
  const scaled = Math.abs(size / step);
  const digits = scaled >= 1000 ? 0 : scaled >= 100 ? 1 : scaled >= 10 ? 2 : 3;
  return `${(value / step).toFixed(digits)}\u00a0${name}`;
}

/** 1.231 → "+23 %". */
export function change(ratio, digits) {
  if (!Number.isFinite(ratio)) return "–";
  if (ratio >= 3) return `×${ratio.toFixed(1)}`;
  const percent = (ratio - 1) * 100;
  const text = percent.toFixed(digits ?? (Math.abs(percent) >= 9.95 ? 0 : 1))
    .replace("-0.0", "0.0");
  return `${text.startsWith("-") ? "" : "+"}${text}\u00a0%`;
}

export const interval = (low, high) => `${change(low, 1)} to ${change(high, 1)}`;

export function probability(p) {
  if (p > 0.999) return ">\u00a099.9\u00a0%";
  if (p < 0.001) return "<\u00a00.1\u00a0%";
  return `${(p * 100).toFixed(1)}\u00a0%`;
}

export const metricName = (metric) =>
  metric.replaceAll("_", " ").replace("cpu", "CPU").replace("gpu", "GPU");

/** "python/dlrm/eval/cpu/fp32/b64/eager" → "dlrm eval". */
export function workloadName(name) {
  const parts = name.split("/");
  return parts.length === 7 ? `${parts[1]} ${parts[2]}` : name;
}

const ago = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** "3 hours ago". */
export function timeAgo(text) {
  const seconds = (new Date(text) - Date.now()) / 1000;
  const [size, unit] = [[86400, "day"], [3600, "hour"], [60, "minute"]]
    .find(([s]) => Math.abs(seconds) >= s) ?? [1, "second"];
  return ago.format(Math.round(seconds / size), unit);
}

/** "1 h 5 min" between two times. */
export function duration(from, to) {
  const minutes = Math.round((new Date(to) - new Date(from)) / 60000);
  if (minutes < 1) return "under a minute";
  const hours = minutes >= 60 ? `${Math.floor(minutes / 60)}\u00a0h\u00a0` : "";
  return `${hours}${minutes % 60}\u00a0min`;
}

/** A <time> that tells how long ago. */
export const when = (text) =>
  (text ? el("time", { datetime: text, title: text }, timeAgo(text)) : "–");

const tones = {
  suspected: "warn", confirmed: "warn", bisecting: "warn", blamed: "bad", reported: "bad",
  recovered: "good", inconclusive: "warn", unconfirmed: "warn", range: "warn", unattributed: "warn",
  historical: "warn", open: "warn",
  culprit: "bad", measuring: "warn",
  judging: "warn", failed: "bad", pending: "warn", sent: "good",
};
export const state = (name) =>
  el("span", { class: `state ${tones[name] ?? ""}` }, name.replaceAll("_", " "));

/**
 * A table that becomes cards on a phone. `columns`: [{name, cell(item), number, whole, tight}]:
 * whole ones fill a line of the card, tight ones do not wrap.
 */
export function table(caption, columns, items) {
  const head = columns.map((c) => el("th", { scope: "col", class: c.number && "number" }, c.name));
  const rows = items.map((item) => el("tr", {}, columns.map((c) => el("td", {
    class: [c.number && "number", c.whole && "whole", c.tight && "tight"].filter(Boolean).join(" ")
      || null,
    "data-name": c.name,
  }, el("div", {}, c.cell(item))))));
  return el("table", { class: "cards" }, caption && el("caption", {}, caption),
    el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows));
}

export const note = (...children) => el("p", { class: "note" }, ...children);

/** What failed, in the service's own words. */
export const failure = (what, error) =>
  el("p", { class: "error", role: "alert" }, el("strong", {}, what), " ", error.message);
