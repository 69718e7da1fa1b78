// The page: shows what the address names, and looks again every few seconds.

import { setToken } from "./api.js";
import { el, failure, timeAgo } from "./dom.js";
import { overviewPage } from "./overview.js";
import { bisectionPage, commitPage, regressionPage, seriesPage } from "./pages.js";
import { searchPage } from "./search.js";

const refreshMilliseconds = 5000;
const routes = [
  [/^$/, overviewPage, ""],
  [/^series$/, searchPage, "series"],
  [/^series\/(\d+)$/, seriesPage, "series"],
  [/^regressions?[/-](\d+)$/, regressionPage, ""],
  [/^bisections\/(\d+)$/, bisectionPage, ""],
  [/^commits\/([0-9a-f]{40})$/, commitPage, ""],
];

const main = document.getElementById("main");
const status = document.getElementById("status");
let shown = null;  // {address, text}: what is on the screen
let turn = 0;

const address = () => location.hash.replace(/^#\/?/, "");

function tokenForm() {
  const field = el("input", { type: "password", autocomplete: "off", id: "token" });
  return el("section", {}, el("h2", {}, "A token is needed"),
    el("p", {}, "This service does not let everybody read. Ask its operator for a token of ",
      "the role ", el("code", {}, "read"), "."),
    el("form", { class: "search",
      onsubmit: (event) => { event.preventDefault(); setToken(field.value.trim()); visit(); } },
      el("label", {}, "Token (kept until this tab is closed)", field), el("button", {}, "Read")));
}

function say(text, bad) {
  status.textContent = text;
  status.className = bad ? "bad" : "";
}

/** Replaces the content, and keeps focus and open details where the new content has them too. */
function put(nodes) {
  const focused = document.activeElement?.id;
  const open = [...main.querySelectorAll("details")].map((d) => d.open);
  main.replaceChildren(...nodes);
  main.querySelectorAll("details").forEach((d, i) => { d.open = open[i] ?? false; });
  if (focused && focused !== "main") document.getElementById(focused)?.focus(
    { preventScroll: true });
}

function refuse(error, same) {
  const text = `error ${error.status} ${error.message}`;
  if (error.status === 401) {
    if (shown?.text !== text) main.replaceChildren(tokenForm());
    say("", false);
  } else if (same && shown.text && !shown.text.startsWith("error")) {
    say(error.message, true);  // what was shown is still of use
    return;
  } else {
    main.replaceChildren(el("section", {}, failure("This cannot be shown.", error),
      el("button", { onclick: () => visit() }, "Try again")));
    say("", false);
  }
  shown = { address: address(), text };
}

/** Loads and shows what the address names; `again`: a look at the same, which changes little. */
async function show(again) {
  const here = address();
  const mine = ++turn;
  const match = routes.map(([pattern, page, tab]) => ({ found: pattern.exec(here), page, tab }))
    .find((r) => r.found);
  if (!match) {
    shown = null;
    main.replaceChildren(el("section", {}, failure("There is no such page.", { message: here })));
    return;
  }
  const argument = match.found[1];
  try {
    const data = await match.page.load(argument);
    if (mine !== turn) return;
    say(`looked at ${new Date().toLocaleTimeString()}`, false);
    const text = JSON.stringify(data);
    if (again && shown?.address === here && shown.text === text) {
      main.querySelectorAll("time")
        .forEach((node) => { node.textContent = timeAgo(node.dateTime); });
      return;
    }
    put(match.page.view(data, argument));
    shown = { address: here, text };
  } catch (error) {
    if (mine !== turn) return;
    if (error.status === undefined) console.error(error);
    refuse(error, again && shown?.address === here);
  }
}

function visit() {
  const here = address();
  const match = routes.find(([pattern]) => pattern.test(here));
  const name = match ? match[1].title(match[0].exec(here)[1]) : "Not found";
  document.title = `${name} · Nightjar`;
  for (const tab of document.querySelectorAll("nav a")) {
    if (match && tab.dataset.page === match[2]) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  main.replaceChildren(el("p", { class: "note", role: "status" }, "Loading …"));
  return show(false);
}

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();  // the address names a page, not a place in it
  main.focus();
});
window.addEventListener("hashchange", async () => {
  await visit();
  main.focus({ preventScroll: true });
  window.scrollTo(0, 0);
});
setInterval(() => { if (!document.hidden) show(true); }, refreshMilliseconds);
visit();
