// What admins decide about a regression.

import { post } from "./api.js";
import { el, fold, section } from "./dom.js";

const over = new Set(["dismissed", "recovered", "merged"]);

/** The decisions that this regression's state allows: [name, words, path, more of the body]. */
const decisions = (r) => [
  !over.has(r.state) && ["dismiss", "It is no regression: dismiss it", "dismiss", {}],
  !over.has(r.state) && ["accept", "It is meant to be so: dismiss it, and its series begin anew",
    "dismiss", { accept: true }],
  r.state === "unconfirmed" && ["confirm", "Measure it again in the next night", "confirm", {}],
  r.issue_url && ["cause", "Say the cause in its issue; the commit, if it is known", "cause", {}],
  ["mark", "The machine or the workload did it: its series begin anew, and it stays as it is",
    null, {}]].filter(Boolean);

async function decide(r, [name, , path, more], reason, sha, token) {
  const commit = name === "cause" && sha ? { commit: sha } : {};
  if (path) return post(`regressions/${r.id}/${path}`, token, { reason, ...more, ...commit });
  for (const s of r.series) {
    await post("marks", token, { reason, workload: s.workload, metric: s.metric,
      machine: s.machine });
  }
}

export function triage(r) {
  const all = decisions(r);
  const what = el("select", { id: "decision" }, all.map(([name, words]) =>
    el("option", { value: name }, words)));
  const reason = el("input", { id: "reason", required: true, maxlength: 2000 });
  const did = el("input", { id: "did-it", pattern: "[0-9a-f]{40}", maxlength: 40, title:
    "40 hexadecimal digits. It is used for a cause, and tells whether the search was right." });
  const token = el("input", { id: "admin-token", type: "password", autocomplete: "off",
    required: true });
  const said = el("p", { role: "status", id: "decided" });
  const send = async (event) => {
    event.preventDefault();
    try {
      await decide(r, all.find(([name]) => name === what.value), reason.value.trim(),
        did.value.trim(), token.value.trim());
      said.replaceChildren("Done. The history of this regression says so.");
    } catch (error) {
      said.replaceChildren(`Nothing was changed. ${error.message}`);
    }
  };
  return section("For admins", fold("triage", "Decide about it", el("form",
    { class: "search triage", onsubmit: send }, el("label", {}, "Decision", what),
    el("label", {}, "Reason", reason), el("label", {}, "Commit that did it, if known", did),
    el("label", {}, "Token of the role admin", token),
    el("button", {}, "Decide")), said));
}
