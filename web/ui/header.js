// The header: which project is watched, its pages, and as whom a person acts: by a token, or by an
// account at the provider that the service trusts.

import { about, forgetToken, setToken, signedIn, signOut } from "./api.js";
import { el } from "./dom.js";

/** Names the project, and hides pages that do not apply to it. */
function nameProject({ project, is_pytorch: isPytorch }) {
  document.getElementById("project").textContent = project ?? "";
  for (const entry of document.querySelectorAll("nav a[data-pytorch]")) entry.hidden = !isPytorch;
}

const placeName = "nightjar-place";
let own = { sign_in: false, account: null };

function nameRole({ role }) {
  const button = document.getElementById("sign-in");
  button.textContent = role === "none" ? "Sign in" : `Sign out (${role})`;
  button.title = own.account ?? "";
  button.dataset.role = role;
}

/** A way to the provider, if there is one. The place that is shown now is shown again then. */
export function accountLink() {
  return own.sign_in && el("p", {}, el("a", { href: "sign-in", id: "sign-in-account",
    onclick: () => sessionStorage.setItem(placeName, location.hash) },
  "Sign in with your account"));
}

/** After signing in: back to the place from which a person went. */
export function returnToPlace() {
  const place = sessionStorage.getItem(placeName);
  sessionStorage.removeItem(placeName);
  if (place && own.account && !location.hash) history.replaceState(null, "", place);
}

/** Asks the service what it watches and as whom it knows us. */
export async function introduce() {
  const known = await about();
  own = await signedIn();
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
      ", and deciding one of the role ", el("code", {}, "admin"), "."), accountLink(), form, said);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** What the button for signing in and out does; `changed` is called when it did. */
export async function signInOrOut(changed) {
  if (document.getElementById("sign-in").dataset.role === "none") return askForToken(changed);
  forgetToken();
  if (own.account) await signOut().catch(() => {});  // the button then says that it stays
  changed();
}
