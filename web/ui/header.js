// The header: which project is watched, its pages, and the token with which a person acts.

import { about, forgetToken, setToken } from "./api.js";
import { el } from "./dom.js";

/** Names the project, and hides pages that do not apply to it. */
function nameProject({ project, is_pytorch: isPytorch }) {
  document.getElementById("project").textContent = project ?? "";
  for (const entry of document.querySelectorAll("nav a[data-pytorch]")) entry.hidden = !isPytorch;
}

function nameRole({ role }) {
  const button = document.getElementById("sign-in");
  button.textContent = role === "none" ? "Sign in" : `Sign out (${role})`;
  button.dataset.role = role;
}

/** Asks the service what it watches and as whom it knows us. */
export async function introduce() {
  const known = await about();
  nameProject(known);
  nameRole(known);
}

/** A form that keeps a token of the wanted role; `done` is called once it is kept. */
export function tokenForm(words, done) {
  const field = el("input", { type: "password", autocomplete: "off", id: "token",
    required: true });
  return el("form", { class: "search", onsubmit: (event) => {
    event.preventDefault();
    setToken(field.value.trim());
    done();
  } }, el("label", {}, "Token (kept until this tab is closed)", field),
  el("button", {}, words));
}

function askForToken(changed) {
  const said = el("p", { class: "error", role: "alert", hidden: true });
  const form = tokenForm("Sign in", async () => {
    const { role } = await about();
    if (role !== "none") {
      dialog.close();
      changed();
      return;
    }
    forgetToken();
    said.textContent = "The service does not know this token.";
    said.hidden = false;
  });
  const dialog = el("dialog", { class: "palette", "aria-label": "Sign in" },
    el("p", {}, "Reading may need a token of the role ", el("code", {}, "read"),
      ", and deciding one of the role ", el("code", {}, "admin"), "."), form, said);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** What the button for signing in and out does; `changed` is called when it did. */
export function signInOrOut(changed) {
  if (document.getElementById("sign-in").dataset.role === "none") return askForToken(changed);
  forgetToken();
  changed();
}
