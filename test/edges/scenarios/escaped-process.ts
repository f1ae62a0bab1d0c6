/** A run starts processes outside of its session, its group and its environment: none outlives it. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../world/eventually.ts";
import { bystander, endOf, type Scenario, submitCommand } from "./scenario.ts";

function isAlive(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.charAt(stat.lastIndexOf(")") + 2) !== "Z";
}

export const escapedProcess: Scenario = {
  name: "a process that leaves its run's session and environment",
  run: async (world) => {
    const file = join(world.folder, "escaped.pid");
    const hidden = `env -i setsid sh -c 'echo $$ > ${file}; exec sleep 1000'`;
    const id = await submitCommand(world, "escapes", `${hidden} & sleep 1000`);
    const pid = (): number => Number(readFileSync(file, "utf8"));
    await eventually("it has escaped", () => Promise.resolve(existsSync(file) && pid() > 0));
    await world.yard("experiment", "kill", id);
    const state = await endOf(world, id);
    const found = state === "CANCELED" ? [] : [`the killed experiment is ${state}`];
    if (isAlive(pid())) {
      found.push("a process of the run lives on after the run has ended");
      process.kill(pid(), "SIGKILL");
    }
    return [...found, ...(await bystander(world))];
  },
};
