// What a page shows as files: tables as CSV, pictures as SVG.

import { el, saveText, tableRows } from "./dom.js";
import { csv } from "./words.js";

const kept = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size",
  "fill-opacity"];

/** A drawing that looks alike without the page's style. */
function svgText(node) {
  const copy = node.cloneNode(true);
  const from = [node, ...node.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((one, i) => {
    const style = getComputedStyle(one);
    for (const name of kept) to[i].setAttribute(name, style.getPropertyValue(name));
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("font-family", "sans-serif");
  return new XMLSerializer().serializeToString(copy);
}

/** Its caption, or the heading of its section. */
const nameOf = (node) => (node.querySelector("caption")
  ?? node.closest("section")?.querySelector("h2, summary"))?.textContent.trim() ?? "page";

const fileName = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 60);

/** Buttons for what is shown when they are unfolded. */
export function exporter(main) {
  const button = (kind, node, make) => el("button", { type: "button", onclick: () =>
    saveText(make(), `${fileName(nameOf(node))}.${kind}`,
      kind === "csv" ? "text/csv" : "image/svg+xml") }, `${kind.toUpperCase()}: `,
  nameOf(node).slice(0, 48));
  const buttons = () => [...[...main.querySelectorAll("table")].map((node) =>
    button("csv", node, () => csv(tableRows(node)))),
  ...[...main.querySelectorAll(".chart > svg")].map((node) => button("svg", node,
    () => svgText(node)))];
  const place = el("p", { class: "tools" });
  return el("details", { ontoggle: () => place.replaceChildren(...buttons()) },
    el("summary", {}, "Save what is shown"), place);
}
