/** All agents are frozen for longer than one may be silent, and continue: no run is repeated. */
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "../../world/eventually.ts";
import { endOf, type Scenario, submitCommand } from "./scenario.ts";

const frozenMs = 35_000;

export const frozenAgents: Scenario = {
  name: "all agents are frozen for 35 s",
  run: async (world) => {
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) ids.push(await submitCommand(world, `frozen-${n}`, "sleep 60"));
    for (const id of ids) {
      await world.untilTrials(id, ([trial]) => trial?.runs[0]?.state === "RUNNING");
    }
    const agents = (await world.processes()).filter(({ name }) => name.startsWith("agent-"));
    const signal = (name: "SIGSTOP" | "SIGCONT"): void => {
      for (const { pid } of agents) if (pid !== null) process.kill(pid, name);
    };
    const found: string[] = [];
    signal("SIGSTOP");
    try {
      await delay(frozenMs);
      const listed = (await world.yard("agent", "list")).out;
      if (!listed.includes("fell silent together")) found.push(`agent list says: ${listed}`);
      const [first = ""] = ids;
      const explained = (await world.yard("job", "explain", first)).out;
      if (!explained.includes("does not report")) found.push(`job explain says: ${explained}`);
    } finally {
      signal("SIGCONT");
    }
    await eventually("the agents report again", async () => {
      const { items } = await world.client.call("listAgents", {});
      return items.every(({ state, silence }) => state === "CONNECTED" && silence === undefined);
    });
    for (const id of ids) {
      const state = await endOf(world, id);
      const { runs } = await world.client.call("getTrial", { trial: `${id}.1` });
      if (state === "COMPLETED" && runs.length === 1) continue;
      found.push(`experiment ${id} is ${state} after ${runs.length} runs`);
    }
    return found;
  },
};
