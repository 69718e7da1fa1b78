// A search that a person had taken up again: what it had come to before.

import { column, commit, number, section, state, table, version, when, whole } from "./dom.js";
import { probability } from "./words.js";

/** The likeliest commits of a posterior and how likely they were. */
function likeliest(w) {
  const best = w.posterior.toSorted((a, b) => b.probability - a.probability)[0];
  return best ? [commit(best.commits[0]), best.commits.length > 1
    && ` to ${best.commits.at(-1).slice(0, 10)}`, ` ${probability(best.probability)}`] : "–";
}

const columns = [
  column("when", (w) => when(w.at)),
  whole("asked for", (w) => `${w.actor}: ${w.reason}`),
  column("had ended as", (w) => state(w.outcome)),
  whole("good end until then", (w) => version(w.good.version)),
  number("runs", (w) => w.runs),
  whole("likeliest then", likeliest),
  number("runs from then on", (w) => `${w.max_runs} at most`)];

/** Each time that this search was taken up again; nothing if it never was. */
export const takenUpAgain = (b) => b.widened.length > 0
  && section("Taken up again", table("What it had found before", columns, b.widened));
