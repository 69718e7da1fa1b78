// The newest profile of each workload and machine class, and what is not profiled.

import { all } from "./api.js";
import { note } from "./dom.js";
import { count } from "./words.js";

export async function newestProfiles() {
  const [profiles, workloads] = await Promise.all([all("profiles", 500), all("workloads", 5000)]);
  const newest = new Map(profiles.toReversed().map((p) => [`${p.workload}@${p.machine}`, p]));
  return { profiles: [...newest.values()], workloads: workloads.length };
}

/** Says plainly what these pages rest on. */
export const notProfiled = (profiles, workloads) => note(
  "A few workloads are profiled each night, in turn, and all at blamed commits. ",
  profiles.length === 0 ? "There is no profile yet."
    : ["So far there are profiles of ", `${new Set(profiles.map((p) => p.workload)).size} of `,
      `${count(workloads, "workload")}, on all machines together. What follows is of these.`]);
