/** Tests of fan-outs to thousands of trials beside other events. */
import type { AnyEvent } from "@trainyard/contracts";
import {
  AllocationEndCause,
  ExperimentOutcome,
  SearchCompletion,
  StopKind,
  StopWhy,
} from "@trainyard/contracts/events";
import { newEventId } from "@trainyard/event-log";
import { enumLabel } from "@trainyard/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { limits } from "../limits.ts";
import { fanOutsPlace } from "./fan-outs.ts";
import { allocationEnded, FanOutsWorld } from "../testing/fan-outs-world.ts";

const large = 5_000;
/** The number of trials in the other tests. */
const less = 2_000;
const kill = { kind: "stop", stop: StopKind.KILL, reason: "enough" } as const;

let world: FanOutsWorld;

beforeEach(() => {
  world = new FanOutsWorld();
});

afterEach(() => {
  world.stop();
});

/**
 * Returns the reasons for which the trials were asked to stop, and the number of trials for each sequence of reasons.
 */
async function stopsOf(id: string, count: number): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (let number = 1; number <= count; number += 1) {
    const events = await world.trial(`${id}.${number}`);
    const stops = events.flatMap((event) =>
      event.type === "RunStopRequested" ? [enumLabel(StopWhy, event.data.why)] : [],
    );
    const key = stops.join(" then ");
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

describe("the fan-out of a large experiment's pause", () => {
  test("delays no other event by more than a few parts", async () => {
    await world.begin("12", large);
    await world.begin("13", 10);
    await world.start();
    await world.settled();
    await world.decide("12", { kind: "pause" });
    await world.committed("part", "12", 1);
    const waited: number[] = [];
    for (let trial = 1; trial <= 10; trial += 1) {
      const parts = world.parts;
      // The platform has lost a run: its end is recorded, and the next one is requested.
      const lost = allocationEnded(AllocationEndCause.AGENT_LOST);
      await world.tell([[`allocation-13.${trial}#1`, lost]]);
      await world.committed("reaction", "13", 2 * trial - 1);
      waited.push(world.parts - parts);
      const started: AnyEvent = { type: "AllocationStarted", data: { starts: [] } };
      await world.tell([[`allocation-13.${trial}#2`, started]]);
      await world.committed("reaction", "13", 2 * trial);
    }
    // The events above were handled while most of the trials were not reached yet.
    expect(world.parts).toBeLessThan(large / limits.trialsPerPart / 2);
    expect(Math.max(...waited)).toBeLessThanOrEqual(3);
    await world.settled();
    expect(await stopsOf("12", large)).toEqual({ pause: large });
    expect(await stopsOf("13", 10)).toEqual({ "": 10 });
    expect(Math.max(...world.commits.map(({ streams }) => streams))).toBe(limits.trialsPerPart);
  });

  test("stops only the trials that it had reached when the experiment is activated again", async () => {
    await world.begin("12", less);
    await world.start();
    await world.settled();
    await world.decide("12", { kind: "pause" });
    await world.committed("part", "12", 3);
    await world.decide("12", { kind: "activate" });
    await world.settled();
    const { pause: stopped = 0, "": untouched = 0 } = await stopsOf("12", less);
    expect(stopped + untouched).toBe(less);
    expect(stopped).toBeGreaterThanOrEqual(3 * limits.trialsPerPart);
    expect(stopped).toBeLessThanOrEqual(6 * limits.trialsPerPart);
  });

  test("is followed by a kill of every trial, reached or not, when the experiment is killed meanwhile", async () => {
    await world.begin("12", less);
    await world.start();
    await world.settled();
    await world.decide("12", { kind: "pause" });
    await world.committed("part", "12", 3);
    await world.decide("12", kill);
    await world.settled();
    const { "pause then kill": harsher = 0, kill: killed = 0 } = await stopsOf("12", less);
    expect(harsher).toBeGreaterThanOrEqual(3 * limits.trialsPerPart);
    expect(harsher + killed).toBe(less);
  });

  test("takes turns with another experiment's fan-out, part by part", async () => {
    await world.begin("12", less);
    await world.begin("14", less);
    await world.start();
    await world.settled();
    await world.decide("12", { kind: "pause" });
    await world.decide("14", { kind: "pause" });
    await world.settled();
    const order = world.commits
      .filter(({ kind }) => kind === "part")
      .map((noted) => noted.experiment);
    const begun = order.indexOf("14");
    expect(begun).toBeLessThanOrEqual(2);
    const both = order.slice(begun, begun + 40);
    for (const [n, id] of both.entries()) expect(id).toBe(n % 2 === 0 ? "14" : "12");
    expect(await stopsOf("14", less)).toEqual({ pause: less });
  });
});

describe("a process that dies during a fan-out", () => {
  for (const part of [1, 2, 20]) {
    for (const written of [false, true]) {
      const at = `its part ${part} ${written ? "is written" : "is not written"}`;
      test(`is followed by one that continues, and asks each trial once, when ${at}`, async () => {
        await world.begin("12", less);
        await world.start();
        await world.settled();
        const died = world.diesAt(part, written);
        await world.decide("12", { kind: "pause" });
        await died;
        await world.start();
        await world.settled();
        expect(await stopsOf("12", less)).toEqual({ pause: less });
        // The trials before the last save are not read again.
        const saved = part < limits.fanOutsSavedEveryParts ? 0 : limits.fanOutsSavedEveryParts - 1;
        const looks = less - saved * limits.trialsPerPart;
        expect(world.looks).toBeLessThanOrEqual(looks + 2 * limits.trialsPerPart);
      });
    }
  }

  test("is followed by one that finds the fan-out in the log if nothing was saved", async () => {
    await world.begin("12", less);
    await world.start();
    await world.settled();
    const died = world.diesAt(5, false);
    await world.decide("12", { kind: "pause" });
    await died;
    world.memory.store.snapshots.clear();
    await world.start();
    await world.settled();
    expect(await stopsOf("12", less)).toEqual({ pause: less });
  });
});

test("a process starts each fan-out again if the saved progress is of another history of the log", async () => {
  await world.begin("12", less);
  await world.start();
  await world.settled();
  const died = world.diesAt(20, true);
  await world.decide("12", { kind: "pause" });
  await died;
  const { stream, schema } = fanOutsPlace;
  const key = `${stream}\n${schema}`;
  const saved = world.memory.store.snapshots.get(key);
  const body = saved?.body ?? "";
  const { position } = JSON.parse(body) as { position: number };
  const [event] = await world.memory.as("others").readAll(position - 1, 1);
  expect(body).toContain(`"event":"${event?.id}"`);
  // A process that has not noticed the restore of the log has saved this progress into it.
  const others = body.replace(event?.id ?? "", newEventId());
  world.memory.store.snapshots.set(key, { version: saved?.version ?? 0, body: others });
  await world.start();
  await world.settled();
  expect(await stopsOf("12", less)).toEqual({ pause: less });
  expect(world.looks).toBeGreaterThanOrEqual(less);
});

test("a fan-out waits for the reactions if the log has a newer change: the next run starts from the state before it", async () => {
  await world.begin("12", less);
  await world.start();
  await world.settled();
  await world.decide("12", { kind: "pause" });
  await world.settled();
  await world.tell([["allocation-12.7#1", allocationEnded(AllocationEndCause.KILLED)]]);
  await world.settled();
  const paused = (await world.stream("experiment-12")).length;
  const parts = world.parts;
  const release = world.hold();
  const checkpoint = "00000000-0000-4000-8000-000000000001";
  const completed = { manifestDigest: "d", files: 1, bytes: 1, trial: "12.7", run: 1, step: 10 };
  await world.tell([
    [`checkpoint-${checkpoint}`, { type: "CheckpointCompleted", data: completed }],
  ]);
  await world.decide("12", { kind: "activate" });
  await world.drivenAgain("experiment-12", paused);
  expect(world.parts).toBe(parts);
  release();
  await world.settled();
  const requested = (await world.trial("12.7")).findLast(({ type }) => type === "RunRequested");
  expect(requested).toMatchObject({ data: { run: 2, fromCheckpoint: checkpoint, fromStep: 10 } });
});

describe("a large experiment that is stopped", () => {
  test("ends once, after its last trial, and reads each trial a few times at most", async () => {
    await world.begin("12", less);
    await world.start();
    await world.settled();
    await world.decide("12", kill);
    await world.tell([
      ["search-12", { type: "SearchCompleted", data: { reason: SearchCompletion.CANCELED } }],
    ]);
    await world.settled();
    const looks = world.looks;
    // The first trial stays open until the other trials have ended, so the check waits for it alone.
    const ends = Array.from({ length: less - 1 }, (_, n) => less - n);
    const end = allocationEnded(AllocationEndCause.KILLED);
    await world.tell(ends.map((number) => [`allocation-12.${number}#1`, end]));
    await world.settled();
    expect((await world.stream("experiment-12")).at(-1)?.type).toBe("ExperimentStopRequested");
    await world.tell([["allocation-12.1#1", end]]);
    await world.settled();
    const ended = (await world.stream("experiment-12")).filter(
      ({ type }) => type === "ExperimentEnded",
    );
    expect(ended).toMatchObject([{ data: { outcome: ExperimentOutcome.CANCELED } }]);
    expect(world.looks - looks).toBeLessThan(8 * less);
  });

  test("ends once even if the process dies between the ends of its trials", async () => {
    await world.begin("12", less);
    await world.start();
    await world.settled();
    await world.decide("12", kill);
    await world.settled();
    const end = allocationEnded(AllocationEndCause.KILLED);
    const numbers = Array.from({ length: less }, (_, n) => n + 1);
    await world.tell(numbers.slice(0, less / 2).map((n) => [`allocation-12.${n}#1`, end]));
    await world.settled();
    world.dies();
    await world.start();
    await world.tell(numbers.slice(less / 2).map((n) => [`allocation-12.${n}#1`, end]));
    await world.settled();
    expect((await world.stream("experiment-12")).at(-1)?.type).toBe("ExperimentEnded");
    expect(world.looks).toBeLessThan(8 * less);
  });
});

describe("a fan-out of which one trial fails", () => {
  const count = 200;

  test("reaches the other trials, is parked under its experiment, and reaches the trial at a retry", async () => {
    await world.begin("12", count);
    await world.start();
    await world.settled();
    const repair = world.breaks("12.7");
    await world.decide("12", { kind: "pause" });
    await world.settled();
    expect(await stopsOf("12", count)).toEqual({ pause: count - 1, "": 1 });
    const { length } = await world.stream("experiment-12");
    const paused = await world.positionOf("experiment-12", length);
    const reason = "fan-outs: Fault: trial 12.7: 12.7 cannot be folded";
    expect(await world.parked()).toEqual([`12 at ${paused}: ${reason}`]);
    // The next leader leaves it to the operator, too.
    world.dies();
    await world.start();
    world.breaks("12.7");
    await world.settled();
    expect(await world.parked()).toHaveLength(1);
    world.dies();
    await world.start();
    repair();
    expect(await world.retryParked("12")).toBeNull();
    await world.settled();
    expect(await stopsOf("12", count)).toEqual({ pause: count });
    expect(await world.parked()).toEqual([]);
  });

  test("is followed by the fan-out of a newer command", async () => {
    await world.begin("12", count);
    await world.start();
    await world.settled();
    const repair = world.breaks("12.7");
    await world.decide("12", { kind: "pause" });
    await world.settled();
    repair();
    await world.decide("12", kill);
    await world.settled();
    expect(await stopsOf("12", count)).toEqual({ "pause then kill": count - 1, kill: 1 });
    expect(await world.retryParked("12")).toBeNull();
    expect(await world.parked()).toEqual([]);
  });
});

test("an experiment whose end fails is parked, and ends at a retry", async () => {
  const count = 100;
  await world.begin("12", count);
  await world.start();
  await world.settled();
  await world.decide("12", kill);
  await world.settled();
  const end = allocationEnded(AllocationEndCause.KILLED);
  const numbers = Array.from({ length: count }, (_, n) => n + 1);
  await world.tell(numbers.slice(1).map((n) => [`allocation-12.${n}#1`, end]));
  await world.settled();
  const repair = world.breaks("12.2");
  await world.tell([["allocation-12.1#1", end]]);
  await world.settled();
  expect(await world.parked()).toEqual([expect.stringContaining("12.2 cannot be folded")]);
  repair();
  expect(await world.retryParked("12")).toBeNull();
  await world.settled();
  expect((await world.stream("experiment-12")).at(-1)?.type).toBe("ExperimentEnded");
});
