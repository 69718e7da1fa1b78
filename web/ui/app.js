// The page: shows what the address names, and says when there is something newer to show.

import { listen } from "./api.js";
import { el, failure } from "./dom.js";
import { exporter } from "./exporting.js";
import { accountLink, introduce, returnToPlace, signInOrOut, tokenForm } from "./header.js";
import { openPalette } from "./palette.js";
import { pageOf, placeOf } from "./routes.js";
import { timeAgo } from "./words.js";

const refreshMilliseconds = 30000, quietMilliseconds = 1000;

const main = document.getElementById("main");
const status = document.getElementById("status");
const fresh = document.getElementById("fresh");
const saving = document.getElementById("saving");
let shown = null;  // {address, text, data}: what is on the screen; text is null for an error
let turn = 0;

/** What the address names. */
const here = () => placeOf(location.hash);

const tokenNeeded = () => el("section", {}, el("h2", {}, "A token is needed"),
  el("p", {}, "This service does not let everybody read. Ask its operator for a token of ",
    "the role ", el("code", {}, "read"), "."), accountLink(),
  tokenForm("Read", again));

function say(text, bad) {
  status.textContent = text;
  status.className = bad ? "bad" : "";
}

function put(place, data, text) {
  const focused = document.activeElement?.id;
  const nodes = place.page.view(data, place.argument, place.query);
  main.replaceChildren(...nodes.flat(Infinity).filter(Boolean));
  saving.replaceChildren(exporter(main));
  if (focused && focused !== "main") {
    document.getElementById(focused)?.focus({ preventScroll: true });
  }
  shown = { address: place.address, text, data };
  fresh.hidden = true;
  main.setAttribute("aria-busy", "false");
}

function refuse(error, again, address) {
  if (again && shown?.address === address) {
    say(error.message, true);  // what was shown is still of use
    return;
  }
  shown = { address, text: null };
  main.replaceChildren(error.status === 401 ? tokenNeeded()
    : el("section", {}, failure("This cannot be shown.", error),
      el("button", { onclick: () => visit() }, "Try again")));
  say("", false);
  main.setAttribute("aria-busy", "false");
}

/** Offers new data. Nothing moves while a person reads: it is shown after a click. */
function announce(place, data, text) {
  const sentence = place.page.news?.(shown.data, data) ?? "There is something new";
  fresh.replaceChildren(`${sentence}. `, el("button", { type: "button", onclick: () => {
    put(place, data, text);
    main.focus({ preventScroll: true });
  } }, "Show"));
  fresh.hidden = false;
}

/** Loads and shows what the address names; `again`: looks whether it has changed. */
async function show(again) {
  const place = here();
  const mine = ++turn;
  if (!place.name) {
    shown = null;
    main.replaceChildren(el("section", {},
      failure("There is no such page:", { message: place.address })));
    main.setAttribute("aria-busy", "false");
    return;
  }
  try {
    place.page = await pageOf(place.name);
    if (!again) document.title = `${place.page.title(place.argument)} · Nightjar`;
    const data = await place.page.load(place.argument, place.query);
    if (mine !== turn) return;
    say("", false);
    const text = JSON.stringify(data);
    if (!again || !shown || shown.text === null) {
      put(place, data, text);
      return;
    }
    shown.address = place.address;  // a page may change its own query without a visit
    for (const node of main.querySelectorAll("time")) node.textContent = timeAgo(node.dateTime);
    if (shown.text !== text) announce(place, data, text);
  } catch (error) {
    if (mine !== turn) return;
    if (error.status === undefined) console.error(error);
    refuse(error, again, place.address);
  }
}

function visit() {
  const { name, tab } = here();
  if (!name) document.title = "Not found · Nightjar";
  for (const entry of document.querySelectorAll("nav a")) {
    if (name && entry.dataset.page === tab) entry.setAttribute("aria-current", "page");
    else entry.removeAttribute("aria-current");
  }
  fresh.hidden = true;
  main.setAttribute("aria-busy", "true");
  // A page that is there at once does not flash.
  const waiting = setTimeout(() => main.replaceChildren(
    el("p", { class: "note", role: "status" }, "Loading …")), 300);
  return show(false).finally(() => clearTimeout(waiting));
}

/** Shows the page as the token that is now kept allows it. */
async function again() {
  await introduce();
  returnToPlace();
  await visit();
}

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();  // the address names a page, not a place in it
  main.focus();
});
document.getElementById("find").addEventListener("click", openPalette);
document.getElementById("sign-in").addEventListener("click", () => signInOrOut(again));
window.addEventListener("keydown", (event) => {
  const typing = event.target.matches?.("input, select, textarea");
  const asked = (event.key === "k" && (event.ctrlKey || event.metaKey))
    || (event.key === "/" && !typing);
  if (!asked) return;
  event.preventDefault();
  openPalette();
});
window.addEventListener("hashchange", async () => {
  await visit();
  main.focus({ preventScroll: true });
  window.scrollTo(0, 0);
});
const look = () => { if (!document.hidden) show(true); };
let heard = 0, stream = null;
// A browser has six connections to a host, so only tabs that are seen listen.
function follow() {
  stream?.abort();
  if (document.hidden) return;
  stream = new AbortController();
  listen(() => { clearTimeout(heard); heard = setTimeout(look, quietMilliseconds); },
    stream.signal);
}
follow();
setInterval(look, refreshMilliseconds);
document.addEventListener("visibilitychange", follow);
document.addEventListener("visibilitychange", look);
again();
