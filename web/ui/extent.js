// Where else a finding was looked for: the other series of its metric in the same night, and what
// got worse with findings that joined it.

import { get } from "./api.js";
import { column, el, failure, fold, longTable, note, number, section, version,
  whole } from "./dom.js";
import { className, workload } from "./parts.js";
import { change, count, metricName } from "./words.js";

const columnsOf = (known) => [
  whole("series", (s) => workload(s.workload, `#/series/${s.series}`)),
  column("machine", (s) => className(known, s.machine)),
  number("that night", (s) => change(s.ratio))];

const beside = ({ beside: all }, columns) => all.filter((b) =>
  b.worse.length > 0).map((b) => longTable([
  `Worse, too, in ${metricName(b.metric)} with `, version(b.version),
  ", where this cause was found again, and not measured side by side"], columns, b.worse));

function ownNight(found, columns) {
  const { worse, not_seen: rest } = found;
  if (worse.length + rest.length + found.unclear === 0) {
    return [note("The night measured no other series of this metric.")];
  }
  return [el("p", {}, `Of ${count(worse.length + rest.length + found.unclear, "other series",
    "other series")} of this night, ${worse.length} got worse, too, and ${rest.length} did not`,
  found.unclear > 0 && `; ${found.unclear} changed by less than the threshold`, "."),
  found.apart.length > 0 && el("ul", {}, found.apart.map((a) => el("li", {}, `${a.part}: seen in ${
    a.seen.join(", ")}, not in ${a.not_seen.join(", ")}`))),
  worse.length > 0 && longTable("Worse, too, and not measured side by side", columns, worse),
  rest.length > 0 && fold("not-seen", `Not seen in ${rest.length}`,
    longTable(null, columns, rest))].filter(Boolean);
}

/** A section that fills itself: the answer may take the service longer than a page should. */
export function extent(r, known) {
  const columns = columnsOf(known);
  const place = el("div", { class: "later" });
  get(`regressions/${r.id}/extent`).then((found) => place.replaceChildren(
    ...ownNight(found, columns), ...beside(found, columns)),
    (error) => place.replaceChildren(failure("Cannot be told.", error)));
  return section("Where it was looked for and not seen", place);
}
