import { isAway } from "@trainyard/client";
import type { Plain } from "@trainyard/contracts";
import type { Agent } from "@trainyard/contracts/api";
import { pause } from "@trainyard/kernel";
import { type Attempt, pollMs } from "./attempt.ts";

/** The services may have been started a moment ago. A wrong address looks the same, so the wait is short. */
const firstAnswerSeconds = 60;

/** Returns an agent that gets runs and has a free slot, as soon as there is one; null if there is none in the time. */
export async function freeAgent(attempt: Attempt, seconds: number): Promise<Plain<Agent> | null> {
  const { clock } = attempt.client;
  const endMs = clock.monotonicMs() + seconds * 1_000;
  for (;;) {
    const found = await freeNow(attempt);
    if (found !== null || clock.monotonicMs() >= endMs) return found;
    await pause(clock, pollMs);
  }
}

async function freeNow(attempt: Attempt): Promise<Plain<Agent> | null> {
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
