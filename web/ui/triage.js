// What admins decide about a regression.

import { isAdmin, post } from "./api.js";
import { el, fold, section } from "./dom.js";

const endedInVain = new Set(["inconclusive", "range", "not_reproduced"]);

/** Whether its own search ended without a culprit, so that it can be taken up again. */
const canBeWidened = (r, search) => search?.regression === r.id && endedInVain.has(search.state)
  && (r.progress !== "over" || search.state === "not_reproduced");

/** The decisions that this regression's state allows: [name, words, path, more of the body]. */
const decisions = (r, search) => [
  r.progress !== "over" && ["dismiss", "It is no regression: dismiss it", "dismiss", {}],
  r.progress !== "over" && ["accept", "It is intended: dismiss it, and its series start over",
    "dismiss", { accept: true }],
  canBeWidened(r, search) && ["widen",
    "Widen the search: from an older good end, with more runs, or for smaller changes", "widen",
    {}],
  r.state === "unconfirmed" && ["confirm", "Measure it again in the next night", "confirm", {}],
  r.issue_url && ["cause", "Say the cause in its issue; the commit, if it is known", "cause", {}],
  ["mark", "The machine or the workload did it: its series start over, and it stays as it is",
    null, {}]].filter(Boolean);

/** A labelled field that only this decision has. */
function field(decision, name, label, attributes) {
  const input = el("input", { id: name, ...attributes });
  return { decision, name, input, label: el("label", {}, label, input) };
}

const numeric = { type: "number", min: 1, inputmode: "numeric" };
const makeFields = () => [
  field("cause", "did-it", "Commit that did it, if known", { pattern: "[0-9a-f]{40}",
    maxlength: 40, title: "40 hexadecimal digits. It tells whether the search was right." }),
  field("widen", "nightlies", "Begin earlier by this number of nightlies", { ...numeric, max: 60 }),
  field("widen", "good-end", "Or at this build", { pattern: "[0-9]{1,15}|[0-9a-f]{40}",
    title: "The id of a build, or the 40 hexadecimal digits of a commit that has a wheel." }),
  field("widen", "more-runs", "More runs", { ...numeric, max: 10000,
    placeholder: "as configured" }),
  field("widen", "more-minutes", "More minutes of measuring", { ...numeric, max: 100000,
    placeholder: "as configured" }),
  field("widen", "threshold", "Smallest change to blame, in %", { type: "number", min: 0.1,
    max: 1000, step: "any", inputmode: "decimal", placeholder: "as before" })];

/** What the fields of a wider search say; those that are empty are left out. */
function widened(text) {
  const end = text("good-end");
  const said = { nightlies: text("nightlies") && Number(text("nightlies")),
    build: end && end.length < 40 ? Number(end) : "", commit: end.length === 40 ? end : "",
    more_runs: text("more-runs") && Number(text("more-runs")),
    more_minutes: text("more-minutes") && Number(text("more-minutes")),
    threshold: text("threshold") && Number(text("threshold")) / 100 };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== ""));
}

async function decide(r, [name, , path, more], reason, text, token) {
  const own = name === "widen" ? widened(text)
    : name === "cause" && text("did-it") ? { commit: text("did-it") } : {};
  if (path) return post(`regressions/${r.id}/${path}`, token, { reason, ...more, ...own });
  for (const s of r.series) {
    await post("marks", token, { reason, workload: s.workload, metric: s.metric,
      machine: s.machine });
  }
}

/** `search`: the regression's, if there is one. */
export function triage(r, search) {
  const all = decisions(r, search);
  const fields = makeFields();
  const show = () => fields.forEach(({ decision, input, label }) => {
    label.hidden = input.disabled = decision !== what.value;
  });
  const what = el("select", { id: "decision", onchange: show }, all.map(([name, words]) =>
    el("option", { value: name }, words)));
  show();
  const reason = el("input", { id: "reason", required: true, maxlength: 2000 });
  const token = !isAdmin() && el("input", { id: "admin-token", type: "password",
    autocomplete: "off", required: true });
  const said = el("p", { role: "status", id: "decided" });
  const text = (name) => fields.find((one) => one.name === name).input.value.trim();
  const send = async (event) => {
    event.preventDefault();
    try {
      await decide(r, all.find(([name]) => name === what.value), reason.value.trim(), text,
        token ? token.value.trim() : undefined);
      said.replaceChildren("Done. The history of this regression says so.");
    } catch (error) {
      said.replaceChildren(`Nothing was changed. ${error.message}`);
    }
  };
  return section("For admins", fold("triage", "Decide about it", el("form",
    { class: "search triage", onsubmit: send }, el("label", {}, "Decision", what),
    el("label", {}, "Reason", reason), fields.map(({ label }) => label),
    token && el("label", {}, "Token of the role admin", token),
    el("button", {}, "Decide")), said));
}
