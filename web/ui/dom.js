// Elements: building nodes without markup in strings, tables, and what every page is made of.

import { shortVersion, timeAgo } from "./words.js";

const svgSpace = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** An HTML element; attributes named on… are listeners, null children are left out. */
export const el = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);

export const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS(svgSpace, tag), attributes, children);

/** A line and a text in a drawing; anchor: "middle", "end". */
export const rule = (kind, x1, x2, y1, y2) => svg("line", { class: kind, x1, x2, y1, y2 });
export const written = (x, y, text, anchor) => svg("text", { x, y, "text-anchor": anchor }, text);

export const link = (href, ...children) => el("a", { href }, ...children);

/** A commit's short hash, which leads to what is known of it. */
export const commit = (sha) =>
  (sha ? link(`#/commits/${sha}`, el("code", { title: sha }, sha.slice(0, 10))) : "–");

/** Subject and hash of {sha, subject, author}; the hash alone where the subject is not known. */
export const namedCommit = (named) => (named.subject
  ? [link(`#/commits/${named.sha}`, el("span", { class: "subject",
    title: `${named.subject}, by ${named.author}` }, named.subject)), " ",
  el("code", { class: "soft", title: named.sha }, named.sha.slice(0, 10))]
  : [commit(named.sha)]);

/** A <time> that tells how long ago, and the exact time on hover and focus. */
export const when = (text) => (text
  ? el("time", { datetime: text, title: `${text.slice(0, 19).replace("T", " ")} UTC` },
    timeAgo(text)) : "–");

const tones = {
  suspected: "warn", confirmed: "warn", bisecting: "warn", blamed: "bad", reported: "bad",
  recovered: "good", inconclusive: "warn", unconfirmed: "warn", range: "warn", unattributed: "warn",
  historical: "warn",
  open: "warn", culprit: "bad", measuring: "warn", judging: "warn", failed: "bad", pending: "warn",
  named: "good", sent: "good", does_not_compile: "bad", absent: "warn", fetched: "good",
  built: "good",
};
const plainStates = { judging: "being judged", leased: "running" };
export const state = (name) => el("span", { class: `state ${tones[name] ?? ""}` },
  plainStates[name] ?? name.replaceAll("_", " "));

export const note = (...children) => el("p", { class: "note" }, ...children);
export const lead = (...children) => el("p", { class: "lead" }, ...children);
export const code = (...children) => el("code", {}, ...children);
/** A build's version, short; whole on hover and in saved files. */
export const version = (text) => el("code", { title: text, "data-whole": text },
  shortVersion(text));
export const strong = (...children) => el("strong", {}, ...children);
export const within = (...children) => el("span", { class: "within" }, ...children);

/** What failed, in the service's own words. */
export const failure = (what, error) =>
  el("p", { class: "error", role: "alert" }, el("strong", {}, what), " ", error.message);

export const section = (title, ...children) =>
  el("section", {}, title && el("h2", {}, title), ...children);

function foldFrom(isOpen, name, summary, content) {
  const key = `nightjar-fold-${name}`, kept = localStorage.getItem(key);
  const node = el("details", { open: kept === null ? isOpen : kept === "open" },
    el("summary", {}, summary), ...content);
  node.addEventListener("toggle", () => {
    if (node.open === isOpen) localStorage.removeItem(key);
    else localStorage.setItem(key, node.open ? "open" : "closed");
  });
  return node;
}

/** Folded details; remembers whether it was open, by `name`, over visits. */
export const fold = (name, summary, ...content) => foldFrom(false, name, summary, content);
/** The same; `isOpen`: whether it is open until a person opens or closes it. */
export const foldOpenIf = (isOpen, name, summary, ...content) =>
  foldFrom(Boolean(isOpen), name, summary, content);

/** A text to copy, such as a command. */
export function copyable(text) {
  const button = el("button", { type: "button", class: "copy", onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(block);
      button.textContent = "Selected";
    }
  } }, "Copy");
  const block = el("pre", { tabindex: 0 }, text);
  return el("div", { class: "copyable" }, block, button);
}

/** Saves a text as a file: a plain link could not show a token. */
export function saveText(text, name, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/**
 * Columns of a table. cell(item): what is shown; raw(item): what a file gets in its place.
 * whole ones fill a line of a card, tight ones do not wrap.
 */
export const column = (name, cell) => ({ name, cell });
export const number = (name, cell, raw) => ({ name, cell, raw, number: true });
export const whole = (name, cell) => ({ name, cell, whole: true });
export const tight = (name, cell) => ({ name, cell, tight: true });

/** Whether a cell has more to say than "–". */
export const says = (cell) => ![cell].flat(Infinity).every((part) => !part || part === "–");

function cells(column, item) {
  const cell = column.cell(item);
  const kind = [column.number && "number", column.whole && "whole", column.tight && "tight",
    !says(cell) && "none"].filter(Boolean).join(" ");
  return el("td", { class: kind || null, "data-name": column.name }, el("div", {}, cell));
}

/** A table that becomes cards on a phone, which leave out cells that say "–". `every`: all items,
 * where some are not shown. */
export function table(caption, columns, items, every = items) {
  const head = columns.map((c) => (c.name
    ? el("th", { scope: "col", class: c.number && "number" }, c.name) : el("td", {})));
  const node = el("table", { class: "cards" }, caption && el("caption", {}, caption),
    el("thead", {}, el("tr", {}, head)),
    el("tbody", {}, items.map((item) => el("tr", {}, columns.map((c) => cells(c, item))))));
  contents.set(node, { columns: columns.filter((c) => c.name), every });
  return node;
}

const contents = new WeakMap();  // of each table: its columns and all of its items

/** All rows of a table as texts, its head first, those that are not shown yet included. */
export function tableRows(node) {
  const { columns, every } = contents.get(node);
  const textOf = (cell) => {
    const shown = el("div", {}, cell);
    for (const short of shown.querySelectorAll("[data-whole]")) {
      short.textContent = short.dataset.whole;
    }
    return shown.textContent;
  };
  return [columns.map((c) => c.name), ...every.map((item) => columns.map((c) => (c.raw
    ? c.raw(item) : textOf(c.cell(item)))))];
}

/**
 * A table of a list in pages: {items, next_cursor}, `total` items in all (null: not known).
 * next(cursor) gives the page after, behind a button.
 */
export function pagedTable(caption, columns, page, total, next) {
  const items = [...page.items];
  const node = el("div", {});
  const show = ({ next_cursor: cursor }) => {
    const more = el("button", { type: "button", onclick: async () => {
      more.disabled = true;
      try {
        const found = await next(cursor);
        items.push(...found.items);
        show(found);
        node.querySelector("a")?.focus({ preventScroll: true });
      } catch (error) {
        more.disabled = false;
        more.after(failure("Cannot show more.", error));
      }
    } }, total ? `Show more of ${total - items.length}` : "Show more");
    node.replaceChildren(table(caption, columns, items), ...cursor ? [more] : []);
  };
  show(page);
  return node;
}

/** The same, and how many more there are, behind one button. */
export function longTable(caption, columns, items, shown = 20) {
  const node = el("div", {}, table(caption, columns, items.slice(0, shown), items));
  if (items.length <= shown) return node;
  const button = el("button", { type: "button", onclick: () => {
    node.replaceChildren(table(caption, columns, items));
    node.querySelector("a")?.focus({ preventScroll: true });
  } }, `Show all ${items.length}`);
  node.append(button);
  return node;
}
