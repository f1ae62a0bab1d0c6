/** Tests of runs that fail: their retries, the delays and agents of these, and the end of the trial. */
import { AllocationEndCause, Fault, TrialOutcome } from "@trainyard/contracts/events";
import { systemClock } from "@trainyard/kernel/system-clock";
import { Stage } from "@trainyard/runtime/stage";
import { beforeEach, expect, test } from "vitest";
import {
  activated,
  agentLost,
  allocationEnded,
  allocationGranted,
  allocationStarted,
  checkpointA,
  checkpointCompleted,
  crashed,
  exampleConfig,
  exit,
  experimentCreated,
  trialProposed,
} from "../testing/examples.ts";
import { limits } from "../limits.ts";
import { reactionHandlers } from "./reactions.ts";
import { noFanOuts, waitsBy } from "../testing/small-fan-outs.ts";

let stage: Stage;

beforeEach(async () => {
  stage = new Stage("experiments", () => reactionHandlers(waitsBy(systemClock), noFanOuts));
  await happens(
    "experiment-12",
    experimentCreated({ ...exampleConfig, max_restarts: 2 }),
    activated,
  );
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

async function requests() {
  const events = await stage.stream("trial-12.1");
  return events.flatMap((event) => (event.type === "RunRequested" ? [event.data] : []));
}

/** Ends each run in turn until the trial ends, and returns the number of runs. */
async function runsUntilEnd(end: (run: number) => ReturnType<typeof allocationEnded>) {
  for (let run = 1; ; run += 1) {
    expect(run).toBeLessThan(20);
    await happens(allocation(run), allocationStarted, end(run));
    if ((await lastEnd()) !== null) return run;
  }
}

const failsOn = (...agents: readonly string[]) =>
  allocationEnded({
    cause: AllocationEndCause.LAUNCH_FAILED,
    exits: [],
    message: "its disk is full",
    launchFailure: { agents, silent: [], platformAway: false },
  });

test("a run that is lost at each start is tried five times, with delays, and the reason says why", async () => {
  expect(await runsUntilEnd(() => agentLost)).toBe(limits.lostTriesMax);
  expect((await requests()).map(({ delayMs }) => delayMs)).toEqual([0, 1_000, 2_000, 4_000, 8_000]);
  expect(await lastEnd()).toMatchObject({
    outcome: TrialOutcome.FAILED,
    restarts: 0,
    reason:
      "5 attempts in a row made no new checkpoint because hosts, supervisors or services failed under the run; run 5: agent a1 was not heard of for 60 s",
  });
  expect((await stage.names("trial-12.1")).length).toBeLessThanOrEqual(20);
});

test("launches that fail end the trial after five, and the reason names the agents", async () => {
  expect(await runsUntilEnd((run) => failsOn(`a${run % 3}`))).toBe(limits.lostTriesMax);
  expect((await lastEnd())?.reason).toContain("(a1, a2, a0); run 5: its disk is full");
});

const lacksOn = (agent: string, everywhere: boolean) =>
  allocationEnded({
    cause: AllocationEndCause.LAUNCH_FAILED,
    exits: [],
    message: "the image localhost/own:1 is not on this host",
    launchFailure: {
      ...{ agents: [agent], silent: [], platformAway: false, lacking: true, lasting: true },
      ...(everywhere ? { everywhere } : {}),
    },
  });

test("a launch on hosts that lack an image of their own is tried once on each, and the reason names them", async () => {
  const hosts = ["a1", "a2", "a3", "a4", "a5", "a6"];
  expect(await runsUntilEnd((run) => lacksOn(`a${run}`, run === hosts.length))).toBe(hosts.length);
  const asked = await requests();
  const excluded = asked.map(({ resources }) => resources?.constraints?.excludedAgents ?? []);
  expect(excluded).toEqual(hosts.map((_, n) => hosts.slice(0, n)));
  expect(asked.slice(1).every(({ delayMs }) => delayMs === 1_000)).toBe(true);
  expect(await lastEnd()).toMatchObject({
    outcome: TrialOutcome.FAILED,
    restarts: 0,
    reason:
      "no agent that could hold the run has what it needs (a1, a2, a3, a4, a5, a6); run 6: the image localhost/own:1 is not on this host",
  });
});

test("an end that was shortened is judged by its cause", async () => {
  const shortened = allocationEnded({ cause: AllocationEndCause.LAUNCH_FAILED, exits: [] });
  expect(await runsUntilEnd(() => shortened)).toBe(limits.lostTriesMax);
});

test("launches that wait for a service of the platform are delayed and do not end a trial", async () => {
  const away = allocationEnded({
    cause: AllocationEndCause.LAUNCH_FAILED,
    exits: [],
    launchFailure: { agents: ["a1"], silent: ["a1"], platformAway: true },
  });
  for (let run = 1; run <= 20; run += 1) await happens(allocation(run), away);
  expect(await lastEnd()).toBeNull();
  const delays = (await requests()).map(({ delayMs }) => delayMs / 1_000);
  expect(delays.slice(0, 6)).toEqual([0, 30, 60, 120, 240, 300]);
});

test("runs that lose their host again and again continue while each makes a new checkpoint", async () => {
  for (let run = 1; run <= 20; run += 1) {
    await happens(allocation(run), allocationStarted);
    const checkpoint = checkpointA.replace(/..$/, String(run + 10));
    await happens(`checkpoint-${checkpoint}`, checkpointCompleted(run, run));
    await happens(allocation(run), agentLost);
  }
  expect(await lastEnd()).toBeNull();
  expect(new Set((await requests()).map(({ delayMs }) => delayMs))).toEqual(new Set([0, 1_000]));
});

test("a run that saves its first step again and then loses its host is tried five times", async () => {
  for (let run = 1; run <= limits.lostTriesMax; run += 1) {
    expect(await lastEnd()).toBeNull();
    await happens(allocation(run), allocationStarted);
    const checkpoint = checkpointA.replace(/..$/, String(run + 10));
    await happens(`checkpoint-${checkpoint}`, checkpointCompleted(run, 0));
    await happens(allocation(run), agentLost);
  }
  expect((await lastEnd())?.reason).toContain("5 attempts in a row made no new checkpoint");
});

test("a script that saves and then fails uses up its restarts, whatever else is blamed each time", async () => {
  const fails = allocationEnded({ exits: [exit(1)], fault: Fault.PLATFORM });
  for (let run = 1; run <= limits.excusedMax + 3; run += 1) {
    expect(await lastEnd()).toBeNull();
    await happens(allocation(run), allocationStarted);
    const checkpoint = checkpointA.replace(/..$/, String(run + 10));
    await happens(`checkpoint-${checkpoint}`, checkpointCompleted(run, run));
    await happens(allocation(run), fails);
  }
  expect(await lastEnd()).toMatchObject({
    restarts: 2,
    reason:
      "run 8: node 0 exited with code 1 (after 2 restarts; blamed on hosts or platform, which excuses 5 failures of a trial)",
  });
});

test("a script that fails is retried with delays, elsewhere, until its restarts are used up", async () => {
  const at = (agent: string) => [allocationGranted(agent), allocationStarted, crashed] as const;
  await happens(allocation(1), ...at("a1"));
  await happens(allocation(2), ...at("a2"));
  const [, second, third] = await requests();
  expect(second).toMatchObject({ delayMs: 1_000, avoided: { agents: ["a1"] } });
  expect(third).toMatchObject({ delayMs: 2_000, avoided: { agents: ["a1", "a2"] } });
  await happens(allocation(3), ...at("a3"));
  expect(await lastEnd()).toMatchObject({ reason: "run 3: ValueError: boom (after 2 restarts)" });
});

test("a failed exit that the scheduler blames on the host or the platform costs no restart", async () => {
  const blamed = (fault: Fault) => allocationEnded({ exits: [exit(1)], fault });
  for (const [n, fault] of [Fault.HOST, Fault.PLATFORM, Fault.HOST, Fault.PLATFORM].entries()) {
    await happens(allocation(n + 1), allocationStarted, blamed(fault));
  }
  expect(await lastEnd()).toBeNull();
  expect((await requests()).map(({ delayMs }) => delayMs)).toEqual([
    0, 1_000, 60_000, 4_000, 240_000,
  ]);
  await happens(allocation(5), allocationStarted, blamed(Fault.HOST));
  expect(await lastEnd()).toMatchObject({ outcome: TrialOutcome.FAILED, restarts: 0 });
});
