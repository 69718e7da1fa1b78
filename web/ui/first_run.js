// What is to be done until a new service has measured its first night. Each step is ticked by what
// the service knows, and says what is missing.

import { copyable, el, section, strong, version } from "./dom.js";
import { count } from "./words.js";

const isOver = (night) => night.state === "done" && night.build !== null;

/** Until a night has ended. */
export const isFirstRun = ({ nights }) => !nights.some(isOver);

/** Commands for the machine that measures; the first one needs an admin's token. */
export const connectRunner = () => [
  `curl -s -X POST -H "Authorization: Bearer $ADMIN_TOKEN" ${location.origin
  }/api/v1/enrolments | jq -r .token > once`,
  `nightjar-runner --service ${location.origin} --name lab-1 --enrol once`];

const start = () =>
  `curl -s -X POST -H "Authorization: Bearer $ADMIN_TOKEN" ${location.origin}/api/v1/nights`;

/** [what, whether it is done, what the service knows, what to do otherwise, kinds of obstacles]. */
function steps({ builds, runners, nights, ready }) {
  const proved = builds.find((b) => b.state === "proved");
  const live = runners.filter((r) => r.live);
  const running = nights.find((n) => n.build);
  return [
    ["The service works", ready.ready, null, ready.detail],
    ["Builds are listed", builds.length > 0, `the newest ${builds.length} are known`,
      ["The table [source] of the configuration names the place, which is read ",
        "every few minutes."], ["source"]],
    ["A build's commit is proved", Boolean(proved), proved && version(proved.version),
      [builds[0]?.reason ?? "", " It takes the wheel and the clone of [repository]."],
      ["repository", "build"]],
    ["A runner is connected", live.length > 0, `${count(live.length, "runner")}: ${
      live.map((r) => r.name).join(", ")}`, [
      "On the machine that measures, with the token of an admin:", connectRunner().map(copyable)],
    ["runner"]],
    ["A night has begun", Boolean(running), running && version(running.build.version),
      ["It begins when a new build appears, or now:", copyable(start())], ["schedule"]],
    ["A night has ended", nights.some(isOver), null,
      "Levels and noise are known then. Changes are judged from the second night on."]];
}

/** Those that no step tells of, since it is done or has none. */
export const otherObstacles = (data) => data.ready.obstacles.filter((o) =>
  !steps(data).some(([, isDone, , , kinds]) => !isDone && kinds?.includes(o.kind)));

export function firstRun(data) {
  const why = (kinds = []) => data.ready.obstacles.filter((o) => kinds.includes(o.kind))
    .map((o) => el("p", {}, o.reason));
  return section("First steps", el("ol", { class: "steps" }, steps(data).map(
    ([what, isDone, known, todo, kinds]) => el("li", { class: isDone ? "done" : null },
      strong(what), el("span", { class: "soft" }, isDone ? " – done" : " – to do",
        isDone && known ? [": ", known] : ""), !isDone && el("div", {}, why(kinds), todo)))));
}
