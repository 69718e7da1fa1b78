// What is to be done until a new service has measured its first night. Each step is ticked by what
// the service knows, and says what is missing.

import { copyable, el, section, strong, version } from "./dom.js";
import { count } from "./words.js";

const isOver = (night) => night.state === "done" && night.build !== null;

/** Until a night has ended. */
export const isFirstRun = ({ nights }) => !nights.some(isOver);

const enrol = () => [
  `curl -s -X POST -H "Authorization: Bearer $ADMIN_TOKEN" ${location.origin
  }/api/v1/enrolments | jq -r .token > once`,
  `nightjar-runner --service ${location.origin} --name lab-1 --enrol once`];

const start = () =>
  `curl -s -X POST -H "Authorization: Bearer $ADMIN_TOKEN" ${location.origin}/api/v1/nights`;

/** [what, whether it is done, what the service knows, what to do otherwise]. */
function steps({ builds, runners, nights, ready }) {
  const why = (...kinds) => ready.obstacles.filter((o) => kinds.includes(o.kind))
    .map((o) => el("p", {}, o.reason));
  const proved = builds.find((b) => b.state === "proved");
  const live = runners.filter((r) => r.live);
  const running = nights.find((n) => n.build);
  return [
    ["The service works", ready.ready, null, ready.detail],
    ["Builds are listed", builds.length > 0, `the newest ${builds.length} are known`,
      [why("source"), "The table [source] of the configuration names the place, which is read ",
        "every few minutes."]],
    ["A build's commit is proved", Boolean(proved), proved && version(proved.version),
      [why("repository", "build"), builds[0]?.reason ?? "",
        " It takes the wheel and the clone of [repository]."]],
    ["A runner is connected", live.length > 0, `${count(live.length, "runner")}: ${
      live.map((r) => r.name).join(", ")}`, [why("runner"),
      "On the machine that measures, with the token of an admin:", enrol().map(copyable)]],
    ["A night has begun", Boolean(running), running && version(running.build.version),
      [why("schedule"), "It begins when a new build appears, or now:", copyable(start())]],
    ["A night has ended", nights.some(isOver), null,
      "Levels and noise are known then. Changes are judged from the second night on."]];
}

export function firstRun(data) {
  return section("First steps", el("ol", { class: "steps" }, steps(data).map(
    ([what, isDone, known, todo]) => el("li", { class: isDone ? "done" : null },
      strong(what), el("span", { class: "soft" }, isDone ? " – done" : " – to do",
        isDone && known ? [": ", known] : ""), !isDone && el("div", {}, todo)))));
}
