// The command palette: finds a page, a workload's series, a commit, an issue or a runner by keys.

import { get, list, machines } from "./api.js";
import { el } from "./dom.js";
import { className, tagsOf } from "./parts.js";
import { globOf, metricName, shortVersion, workloadName } from "./words.js";

const most = 12;

const pageHits = (text) => [...document.querySelectorAll("nav a:not([hidden])")].filter((a) =>
  a.textContent.toLowerCase().startsWith(text.toLowerCase())).map((a) => ({ kind: "page",
  href: a.hash, name: a.textContent }));

const nightHits = (text) => (/^night [1-9]\d{0,8}$/i.test(text)
  ? [{ href: `#/nights?night=${text.slice(6)}`, kind: "night", name: text.slice(6) }] : []);

const seriesOf = (text, limit) => list(`series?${
  new URLSearchParams({ workload: globOf(text), limit: String(limit) })}`);

/** All words are of the workload, or the others are of its metric, its machine or its tags. */
async function seriesHits(text) {
  const [first, ...rest] = text.split(/\s+/);
  const [named, begun, classes] = await Promise.all([seriesOf(text, most),
    rest.length > 0 ? seriesOf(first, 500) : [], machines()]);
  const hitOf = (s) => ({ href: `#/series/${s.id}`, kind: "series",
    name: `${workloadName(s.workload_name)} ${metricName(s.metric)}`,
    more: [className(classes, s.machine), ...tagsOf(s.workload_name)].join(" ") });
  const fits = (s) => rest.every((word) => [s.workload_name, s.metric, hitOf(s).name,
    hitOf(s).more].some((part) => part.toLowerCase().includes(word.toLowerCase())));
  const found = [...named, ...begun.filter(fits)];
  return [...new Map(found.map((s) => [s.id, hitOf(s)])).values()];
}

async function regressionHits(text) {
  if (!/^#?[1-9]\d{0,8}$/.test(text)) return [];
  const number = Number(text.replace("#", ""));
  const [own, ofIssue] = await Promise.all([get(`regressions/${number}`).catch((error) => {
    if (error.status === 404) return null;
    throw error;
  }), list(`regressions?issue=${number}`)]);
  const items = (own ? [own] : []).concat(ofIssue.filter((r) => r.id !== own?.id));
  return items.map((r) => ({
    href: `#/regressions/${r.id}`, kind: r.issue_number === number ? `issue #${number}`
      : `regression ${r.id}`, name: workloadName(r.series[0].workload), more: r.state }));
}

const isCommit = (text) => /^[0-9a-f]{7,40}$/.test(text);

/** The commit whose id begins so, whether it has a build or not. */
async function commitHits(text) {
  if (!isCommit(text)) return [];
  const found = await get(`commits/${text}`).catch((error) => {
    if (error.status !== 404) throw error;
    return text.length === 40 ? { sha: text } : null;
  });
  if (!found) return [];
  const short = found.sha.slice(0, 10);
  return [{ href: `#/commits/${found.sha}`, kind: "commit", name: found.subject ?? short,
    more: found.subject && `${short} by ${found.author}` }];
}

async function buildHits(text) {
  if (!/^[0-9a-f.+dev-]{4,39}$/.test(text) || isCommit(text)) return [];
  const [newest, ofCommit] = await Promise.all([list("builds?limit=500"),
    /^[0-9a-f]+$/.test(text) ? list(`builds?commit=${text}`) : []]);
  const items = newest.filter((b) => b.commit && b.version.includes(text)
    && !ofCommit.some((one) => one.id === b.id));
  return ofCommit.concat(items)
    .map((b) => ({ href: `#/commits/${b.commit}`, kind: "commit", name: b.commit.slice(0, 10),
      more: shortVersion(b.version) }));
}

async function runnerHits(text) {
  const items = await list("runners?limit=500");
  return items.filter((r) => r.name.includes(text)).map((r) => ({ href: "#/machines",
    kind: "runner", name: r.name }));
}

async function hits(text) {
  if (text === "") return pageHits("");
  const found = await Promise.allSettled([pageHits(text), nightHits(text), commitHits(text),
    regressionHits(text), runnerHits(text), buildHits(text), seriesHits(text)]);
  return found.flatMap((f) => f.value ?? []).slice(0, most);
}

const option = (hit, index, chosen) => el("a", { href: hit.href, role: "option",
  id: `hit-${index}`, tabindex: -1, "aria-selected": String(index === chosen) },
el("span", { class: "tag" }, hit.kind), " ", hit.name,
hit.more && el("span", { class: "soft" }, ` ${hit.more}`));

/** Opens the palette. Escape or a choice closes it. */
export function openPalette() {
  if (document.querySelector("dialog.palette")) return;
  let found = [], chosen = 0, asked = 0;
  const results = el("div", { role: "listbox", id: "hits", "aria-label": "What was found" });
  const said = el("p", { class: "note", role: "status" });
  const input = el("input", { type: "search", role: "combobox", "aria-expanded": "true",
    "aria-controls": "hits", "aria-label": "Find a workload, commit, issue number or runner",
    placeholder: "workload, commit, issue number, runner …", autocomplete: "off",
    spellcheck: "false" });
  const dialog = el("dialog", { class: "palette", "aria-label": "Find" }, input, results, said);
  const draw = () => {
    results.replaceChildren(...found.map((hit, i) => option(hit, i, chosen)));
    if (found.length) input.setAttribute("aria-activedescendant", `hit-${chosen}`);
    else input.removeAttribute("aria-activedescendant");
    said.textContent = found.length ? "" : "Nothing found.";
  };
  const ask = async () => {
    const mine = ++asked;
    const now = await hits(input.value.trim());
    if (mine !== asked) return;
    [found, chosen] = [now, 0];
    draw();
  };
  const go = () => {
    if (!found[chosen]) return;
    dialog.close();
    location.hash = found[chosen].href;
  };
  input.addEventListener("input", ask);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step && event.key !== "Enter") return;
    event.preventDefault();
    if (!step) return go();
    if (found.length) chosen = (chosen + step + found.length) % found.length;
    draw();
  });
  results.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  input.focus();
  ask();
}
