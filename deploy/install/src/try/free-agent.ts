import { isAway } from "@trainyard/client";
import type { Plain } from "@trainyard/contracts";
import type { Agent } from "@trainyard/contracts/api";
import type { Attempt } from "./attempt.ts";

/** The services may have been started a moment ago. A wrong address looks the same, so the wait is short. */
const firstAnswerSeconds = 60;

/** Returns an agent that gets runs and has a free slot; null without one. */
export async function freeAgent(attempt: Attempt): Promise<Plain<Agent> | null> {
  const request = { filter: "state = CONNECTED and free_slots > 0", pageSize: 100 };
  let away = "";
  const { items } = await attempt.until(
    () =>
      attempt.client.call("listAgents", request).catch((error: unknown) => {
        if (!isAway(error) || !(error instanceof Error)) throw error;
        away = error.message;
        return null;
      }),
    () => `the API has not answered (${away})`,
    firstAnswerSeconds,
  );
  return items.find((agent) => getsRuns(agent) && agent.slots.some(isFree)) ?? null;
}

const getsRuns = (agent: Plain<Agent>): boolean =>
  (agent.notPlaced ?? "") === "" && agent.disabled === undefined;

const isFree = (slot: Plain<Agent>["slots"][number]): boolean =>
  slot.run === "" && slot.withdrawn !== true && slot.disabled === undefined;
