/**
 * An experiment of 100,000 trials is paused beside a running one, dies, is killed and ends: the tests of fan-outs at
 * full size.
 */
import { AllocationEndCause, StopKind } from "@trainyard/contracts/events";
import {
  allocationEnded,
  FanOutsWorld,
} from "@trainyard/service-experiments/testing/fan-outs-world";
import type { Campaign } from "../../scripts/lib/campaigns.ts";

const trials = 100_000;
/** The number of times that the running experiment's run is lost and requested again meanwhile. */
const rounds = 100;
const diesAtPart = 800;

const fanOuts: Campaign = {
  name: "fan-outs",
  description: "100,000 trials paused beside a running experiment, through a death, and killed",
  run,
};

export const campaigns: readonly Campaign[] = [fanOuts];

type Options = Parameters<Campaign["run"]>[0];

async function run({ log }: Options): ReturnType<Campaign["run"]> {
  const violations: string[] = [];
  const world = new FanOutsWorld();
  const startedMs = performance.now();
  const say = (what: string): void =>
    log(`${((performance.now() - startedMs) / 1_000).toFixed(1)} s: ${what}`);
  await world.begin("12", trials);
  await world.begin("13", 1);
  await world.start();
  await world.settled();
  say(`${trials} trials run`);
  const waited = await pausedBeside(world);
  if (waited > 3) violations.push(`an event waited for ${waited} parts`);
  say(`paused at part ${world.parts}; an event waited for ${waited} parts at most`);
  const died = world.diesAt(Math.max(diesAtPart, world.parts + 2), false);
  await died;
  await world.start();
  await world.settled();
  say(`continued after a death, and all are asked to stop, in ${world.parts} parts`);
  violations.push(...(await stoppedOther(world, 1)));
  await world.decide("12", { kind: "stop", stop: StopKind.KILL, reason: "" });
  await world.settled();
  say("killed");
  violations.push(...(await stoppedOther(world, 2)));
  const looks = world.looks;
  const end = allocationEnded(AllocationEndCause.KILLED);
  await world.tell(Array.from({ length: trials }, (_, n) => [`allocation-12.${n + 1}#1`, end]));
  await world.settled();
  const last = (await world.stream("experiment-12")).at(-1)?.type;
  if (last !== "ExperimentEnded") violations.push(`the experiment's last event is ${last}`);
  const each = (world.looks - looks) / trials;
  if (each > 8) violations.push(`each trial was looked at ${each} times until the end`);
  say(`ended, with ${each.toFixed(1)} looks at each trial`);
  world.stop();
  return { violations, summary: `${trials} trials, an event waited for ${waited} parts at most` };
}

/** The largest number of parts that an event of the running experiment waited for. */
async function pausedBeside(world: FanOutsWorld): Promise<number> {
  let most = 0;
  await world.decide("12", { kind: "pause" });
  await world.committed("part", "12", 1);
  for (let round = 1; round <= rounds; round += 1) {
    const parts = world.parts;
    const preempted = allocationEnded(AllocationEndCause.KILLED);
    await world.tell([[`allocation-13.1#${round}`, preempted]]);
    await world.committed("reaction", "13", 2 * round - 1);
    most = Math.max(most, world.parts - parts);
    await world.tell([
      [`allocation-13.1#${round + 1}`, { type: "AllocationStarted", data: { starts: [] } }],
    ]);
    await world.committed("reaction", "13", 2 * round);
  }
  return most;
}

async function stoppedOther(world: FanOutsWorld, times: number): Promise<readonly string[]> {
  let others = 0;
  for (let number = 1; number <= trials; number += 1) {
    const events = await world.trial(`12.${number}`);
    if (events.filter(({ type }) => type === "RunStopRequested").length !== times) others += 1;
  }
  return others === 0 ? [] : [`${others} trials were not asked to stop ${times} times`];
}
