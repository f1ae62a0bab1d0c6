/**
 * One part of the platform is down for longer than every timeout, while runs store checkpoints and end. Afterwards no
 * trace may be left: it tests the table "what continues when a part is down".
 */
import { setTimeout as delay } from "node:timers/promises";
import {
  type SearchUnderTest,
  stepsOfTrial,
  submitSearch,
  untilMoreValidations,
  untilOver,
  violationsOf,
} from "../chaos/search-under-test.ts";
import { eventually } from "../world/eventually.ts";
import { World } from "../world/world.ts";

export const partsThatMayBeAway = [
  "gateway",
  "registry",
  "metrics",
  "logs",
  "scheduler",
  "postgres",
  "nats",
  "experiments",
  "searcher",
  "checkpoint-gc",
  "relay",
] as const;

export type Outage = {
  readonly part: (typeof partsThatMayBeAway)[number];
  readonly awayMs: number;
  readonly seed: number;
  /**
   * The time of a step; a trial has `stepsOfTrial` of them and is shorter than the outage, so that runs end meanwhile.
   */
  readonly stepSeconds: number;
  readonly log: (line: string) => void;
};

/** Returns a sentence for each violation; none if nothing was lost, restarted or stored twice. */
export async function outage(options: Outage): Promise<readonly string[]> {
  const { part, awayMs, log } = options;
  await using world = await World.start({ processes: true, slots: 3, restart: false });
  const search = await submitSearch(world, options);
  await untilMoreValidations(world.client, search.id);
  await world.kill(part);
  log(`${part} is away for ${awayMs / 1_000} s`);
  await delay(awayMs);
  const said = await world.yard("cluster", "restart", part);
  if (said.code !== 0) return [`${part} could not be started again: ${said.err}`];
  await untilOver(world.client, search.id, 900_000);
  const found = [
    ...(await violationsOf(world, search)),
    ...(await restarted(world, search)),
    ...(await checkpointViolations(world, search)),
    ...(await logViolations(world, search)),
  ];
  return found.map((violation) => `${part} away: ${violation}`);
}

/** Checks that no outage of a service costs a run. */
async function restarted(world: World, { id }: SearchUnderTest): Promise<readonly string[]> {
  const { items } = await world.client.call("listTrials", { experiment: id, pageSize: 100 });
  return items
    .filter(({ runs }) => runs.length !== 1)
    .map(({ id: trial, runs }) => `trial ${trial} took ${runs.length} runs`);
}

/**
 * Checks that the last checkpoint of each trial is complete and can be downloaded, whatever was down when its run
 * ended.
 */
async function checkpointViolations(
  world: World,
  { id }: SearchUnderTest,
): Promise<readonly string[]> {
  const found: string[] = [];
  const { items: trials } = await world.client.call("listTrials", {
    experiment: id,
    pageSize: 100,
  });
  for (const { id: trial } of trials) {
    let last: string | undefined;
    let seen = "";
    const isComplete = async (): Promise<boolean> => {
      const { items } = await world.client.call("listCheckpoints", { trial, pageSize: 100 });
      seen = items.map((one) => `${one.stepsCompleted} ${one.state} ${one.reason}`).join(", ");
      const isLast = items.find(({ stepsCompleted }) => stepsCompleted === stepsOfTrial);
      last = isLast?.state === "COMPLETED" ? isLast.uuid : undefined;
      return last !== undefined;
    };
    await eventually("the last checkpoint is complete", isComplete, 120_000).catch(() => {
      found.push(`trial ${trial} lacks its last checkpoint (${seen})`);
    });
    if (last === undefined) continue;
    const said = await world.yard("checkpoint", "download", last, `download-${last}`);
    if (said.code !== 0) found.push(`checkpoint ${last} of trial ${trial}: ${said.err}`);
  }
  return found;
}

/** Checks that every line is stored once, in order. */
async function logViolations(world: World, { id }: SearchUnderTest): Promise<readonly string[]> {
  const found: string[] = [];
  const wanted = Array.from({ length: stepsOfTrial }, (_, step) => `step ${step + 1}`);
  const { items: trials } = await world.client.call("listTrials", {
    experiment: id,
    pageSize: 100,
  });
  for (const { id: trial } of trials) {
    let steps: readonly string[] = [];
    const isWhole = async (): Promise<boolean> => {
      const { out } = await world.yard("trial", "logs", trial);
      steps = out.match(/step \d+$/gm) ?? [];
      return JSON.stringify(steps) === JSON.stringify(wanted);
    };
    await eventually("every line is there", isWhole, 120_000).catch(() => {
      found.push(`trial ${trial} has the lines ${steps.join(", ")}`);
    });
  }
  return found;
}
