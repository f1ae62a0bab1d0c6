/** Tests of runs that the platform cannot launch: the retries, their agents, and the end of the trial. */
import { AllocationEndCause, TrialOutcome } from "@trainyard/contracts/events";
import { systemClock } from "@trainyard/kernel/system-clock";
import { Stage } from "@trainyard/runtime/stage";
import { beforeEach, expect, test } from "vitest";
import {
  activated,
  allocationEnded,
  experimentCreated,
  trialProposed,
} from "../testing/examples.ts";
import { limits } from "../limits.ts";
import { reactionHandlers } from "./reactions.ts";
import { noFanOuts, waitsBy } from "../testing/small-fan-outs.ts";

let stage: Stage;

beforeEach(async () => {
  stage = new Stage("experiments", () => reactionHandlers(waitsBy(systemClock), noFanOuts));
  await happens("experiment-12", experimentCreated(), activated);
  await happens("search-12", trialProposed());
});

const allocation = (run: number) => `allocation-12.1#${run}`;

async function happens(stream: string, ...events: Parameters<Stage["tell"]>[1][]): Promise<void> {
  await stage.tell(stream, ...events);
  await stage.settle();
}

async function lastEnd() {
  const event = (await stage.stream("trial-12.1")).at(-1);
  return event?.type === "TrialEnded" ? event.data : null;
}

const failsOn = (...agents: readonly string[]) =>
  allocationEnded({
    cause: AllocationEndCause.LAUNCH_FAILED,
    exits: [],
    message: "its disk is full",
    launchFailure: { agents, silent: [], platformAway: false },
  });

test("a launch that fails on three agents ends the trial, which names them, and costs no restart", async () => {
  for (const [n, agent] of ["a1", "a2", "a2", "a3"].entries()) {
    expect(await lastEnd()).toBeNull();
    await happens(allocation(n + 1), failsOn(agent));
  }
  expect(await lastEnd()).toMatchObject({
    outcome: TrialOutcome.FAILED,
    restarts: 0,
    reason: "run 4 could not be launched on agents a1, a2, a3: its disk is full",
  });
});

test("a launch that always fails on the only agent ends the trial after some attempts", async () => {
  for (let run = 1; (await lastEnd()) === null; run += 1) {
    expect(run).toBeLessThan(100);
    await happens(allocation(run), failsOn("a1"));
  }
  expect(await lastEnd()).toMatchObject({
    outcome: TrialOutcome.FAILED,
    restarts: 0,
    reason: `run ${limits.launchAttemptsMax} could not be launched on agent a1 in ${limits.launchAttemptsMax} attempts: its disk is full`,
  });
});

test("a launch failure without an agent, as in an end that was shortened, also ends the trial", async () => {
  for (let run = 1; (await lastEnd()) === null; run += 1) {
    expect(run).toBeLessThan(100);
    await happens(
      allocation(run),
      allocationEnded({ cause: AllocationEndCause.LAUNCH_FAILED, exits: [] }),
    );
  }
  expect((await lastEnd())?.outcome).toBe(TrialOutcome.FAILED);
});

test("launches that wait for a service of the platform, and lost agents, do not end a trial", async () => {
  const away = allocationEnded({
    cause: AllocationEndCause.LAUNCH_FAILED,
    exits: [],
    launchFailure: { agents: ["a1"], silent: ["a1"], platformAway: true },
  });
  const lost = allocationEnded({ cause: AllocationEndCause.AGENT_LOST, exits: [] });
  for (let run = 1; run <= 30; run += 1)
    await happens(allocation(run), run % 2 === 0 ? away : lost);
  expect(await lastEnd()).toBeNull();
});
