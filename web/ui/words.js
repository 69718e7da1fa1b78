// Numbers, units, times and names as a person reads them.

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

/** Three significant digits of a number of about `size`. */
function digits(value, size = value) {
  const about = Math.abs(size);
  return value.toFixed(about >= 99.95 ? 0 : about >= 9.995 ? 1 : 2).replace("-", "−");
}

/** The values of a run that passes and of one that fails. */
export const outcomes = { passes: 1, fails: 1.25 };

/** Three significant digits and the unit that suits `size`. */
export function quantity(value, unit, size = value) {
  if (value === null || value === undefined) return "–";
  if (unit === "outcome") return value < outcomes.passes + .01 ? "passes"
    : value > outcomes.fails - .01 ? "fails"
    : "fails now and then";
  const { size: step, name } = unitFor(unit, size);
  return `${digits(value / step, size / step)}\u00a0${name}`;
}

const signed = (percent) => {
  const text = Math.abs(percent) < 99.95 ? Math.abs(percent).toFixed(1)
    : Math.abs(percent).toFixed(0);
  return `${percent < 0 && Number(text) ? "−" : "+"}${text}`;
};

/** 1.231 → "+23.1 %". */
export function change(ratio) {
  if (!Number.isFinite(ratio)) return "–";
  if (ratio >= 3) return `×${ratio.toFixed(1)}`;
  return `${signed((ratio - 1) * 100)}\u00a0%`;
}

/** "+6.1 to +8.4". */
export const interval = (low, high) =>
  (high >= 3 ? `×${low.toFixed(1)} to ×${high.toFixed(1)}`
    : `${signed((low - 1) * 100)} to ${signed((high - 1) * 100)}`);

export function probability(p) {
  if (p > 0.999) return ">\u00a099.9\u00a0%";
  if (p < 0.001) return "<\u00a00.1\u00a0%";
  return `${(p * 100).toFixed(1)}\u00a0%`;
}

/** A share in whole percent; "–" where it is not known. */
export const percent = (share) => (Number.isFinite(share) ? `${Math.round(share * 100)}\u00a0%`
  : "–");

export const metricName = (metric) =>
  metric.replaceAll("_", " ").replace("cpu", "CPU").replace("gpu", "GPU");

export const count = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

const ago = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** "3 hours ago". */
export function timeAgo(text) {
  const seconds = (new Date(text) - Date.now()) / 1000;
  const [size, unit] = [[86400, "day"], [3600, "hour"], [60, "minute"]]
    .find(([s]) => Math.abs(seconds) >= s) ?? [1, "second"];
  return ago.format(Math.round(seconds / size), unit);
}

/** "1 h 5 min". */
export function span(seconds) {
  const minutes = Math.round(seconds / 60);
  if (minutes < 1) return "under a minute";
  if (minutes >= 2880) return `${Math.round(minutes / 1440)}\u00a0days`;
  const hours = minutes >= 60 ? `${Math.floor(minutes / 60)}\u00a0h\u00a0` : "";
  return `${hours}${minutes % 60}\u00a0min`;
}

export const duration = (from, to) => span((new Date(to) - new Date(from)) / 1000);

/** "python/dlrm/eval/cpu/fp32/b64/eager" by parts. */
export function workloadParts(name) {
  const [suite, model, task, device, precision, batch, backend] = name.split("/");
  return backend ? { suite, model, task, device, precision, batch, backend } : null;
}

/** "python/dlrm/eval/cpu/fp32/b64/eager" → "dlrm eval". */
export function workloadName(name) {
  const parts = workloadParts(name);
  return parts ? `${shortMiddle(parts.model)} ${parts.task}` : name;
}

/** Shortens in the middle: a model's version is at its end. */
export const shortMiddle = (text, most = 28) => (text.length <= most ? text
  : `${text.slice(0, Math.ceil(most / 2) - 1)}…${text.slice(1 - Math.floor(most / 2))}`);

/**
 * A version without the greater part of a commit's name in it: "2.1+git1a2b3c4d5e…", and without
 * the time that an import puts before a release's: "2.9.1".
 */
export const shortVersion = (text) => text.replace(/^\d{8}\.\d{6}\+(?=v?\d+\.\d)/, "")
  .replace(/[0-9a-f]{16,}/g, (digits) => `${digits.slice(0, 10)}…`);

/** A machine class by its fastest part. */
export function machineName(machine) {
  const { gpu, cpu_model: cpu, imported } = machine.facts;
  if (imported) return imported;
  if (gpu && gpu !== "none") return gpu.replace(/^NVIDIA (GeForce )?/, "");
  return cpu ?? `class ${machine.id}`;
}

/** A spreadsheet computes a cell that begins so, whoever wrote its text. A quantity is none. */
const isFormula = (text) => /^[=+\-@\t\r\n＝＋－＠]/.test(text)
  && !/^[+-]?[\d.,]+( ?[%\p{L}/]+)?$/u.test(text);

/** Rows of cells as a CSV file's text. */
export const csv = (rows) => rows.map((row) => row.map((cell) => {
  const written = cell === null || cell === undefined ? "" : String(cell);
  const text = isFormula(written) ? `'${written}` : written;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text;
}).join(",")).join("\n") + "\n";

/** Words in any part of a workload's name become a glob; a glob is taken as it is. */
export function globOf(text) {
  const words = text.trim().split(/\s+/).filter(Boolean);
  return words.length === 1 && /[*?]/.test(words[0]) ? words[0] : ["", ...words, ""].join("**");
}

/** Whether a glob with * (within a part), ** (over parts) and ? matches the whole name. */
export function globMatch(glob, name) {
  const pattern = glob.split("**").map((part) => part.replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*/g, "[^/]*").replace(/\?/g, "[^/]")).join(".*");
  return new RegExp(`^${pattern}$`).test(name);
}
