/** The hazards of wall clocks that are hours ahead or behind, on the log's server and on the services' hosts. */
import { EndReason } from "@trainyard/contracts/events";
import type { Hazard } from "./hazard.ts";
import { hazards } from "./hazards.ts";
import type { Scene } from "./scene.ts";
import { acknowledged, exited, finish, running, started } from "./scene-steps.ts";
import { single } from "./submissions.ts";

const hourMs = 3_600_000;
const minuteMs = 60_000;
/**
 * The least time that a next run waits for its predecessor's checkpoints, after which the services act with some delay.
 */
const waitMs = 10 * minuteMs;
const soonMs = minuteMs;

const late = "dddddddd-0000-4000-8000-000000000004";

/** A run ends in an error, and its checkpoints are still being delivered. */
async function leaves(scene: Scene): Promise<void> {
  await running(scene);
  const sealed = [{ checkpoint: late, step: 10, bytes: 1 }];
  await scene.tell(scene.allocation(1), exited(1, EndReason.ERROR, sealed));
  await scene.settle();
}

/** The next run starts from the checkpoint that was delivered in time. */
async function brought(scene: Scene): Promise<void> {
  const data = {
    trial: `${scene.id}.1`,
    run: 1,
    step: 10,
    manifestDigest: "d",
    files: 1,
    bytes: 1,
  };
  await scene.tell(`checkpoint-${late}`, { type: "CheckpointCompleted", data });
  await finish(scene);
}

/** No checkpoint is delivered: the next run is requested once the wait is over, which a new leader may start again. */
async function waitedOut(scene: Scene): Promise<void> {
  await scene.until(() => scene.requests().length === 2, "the wait ends", 2 * waitMs + soonMs);
  await finish(scene);
}

function startsFrom(step: number): (scene: Scene) => readonly string[] {
  return (scene) => {
    const found = scene.requests().at(-1)?.fromStep;
    return found === step ? [] : [`the last run starts from ${found}, wanted ${step}`];
  };
}

const ofWaits: readonly Hazard[] = [
  {
    name: "hosts a day ahead of the log while a trial waits for a checkpoint",
    async script(scene) {
      scene.setClocks({ hostsAheadMs: 24 * hourMs });
      await leaves(scene);
      await brought(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: startsFrom(10),
  },
  {
    name: "hosts that jump a day ahead while a trial waits for a checkpoint",
    async script(scene) {
      await leaves(scene);
      scene.setClocks({ hostsAheadMs: 24 * hourMs });
      await scene.settle();
      await brought(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: startsFrom(10),
  },
  {
    name: "a log a day ahead of the hosts, and nobody brings the checkpoint",
    long: true,
    async script(scene) {
      scene.setClocks({ logAheadMs: 24 * hourMs });
      await leaves(scene);
      await waitedOut(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: startsFrom(0),
  },
];

const budgetMs = 30_000;
const budget = { name: "budget", max_slot_hours: null, max_trials: null } as const;

/** A trial hangs until its search's budget of time is spent, and appends fail at that moment. */
async function spends(scene: Scene): Promise<void> {
  await scene.create(single, false, [{ ...budget, max_wall_time: budgetMs / 1_000 }]);
  await scene.settle();
  await scene.tell(scene.allocation(1), started);
  await scene.settle();
  const begun = scene.events(scene.search).length;
  await scene.pass(budgetMs - 5_000);
  scene.failAppends("searcher");
  await scene.pass(10_000);
  scene.failAppends(null);
  const isStopped = () => scene.events(scene.search).length > begun;
  await scene.until(isStopped, "the search is stopped", 2 * budgetMs + soonMs);
  await scene.settle();
  await scene.tell(scene.allocation(1), acknowledged);
}

const ofBudgets: readonly Hazard[] = [
  {
    name: "a budget of time that is spent while appends fail and no trial reports",
    script: spends,
    trial: "stopped_early",
    experiment: "completed",
  },
];

/** A process dies or sleeps, and at the same time the log fails over to a server whose clock is an hour behind. */
const ofFailovers: readonly Hazard[] = hazards
  .filter(({ name, long = false }) => !long && /creation|quick turn|wants it/.test(name))
  .map((hazard) => ({
    ...hazard,
    name: `${hazard.name}, and the log's clock falls back by an hour`,
    onTrouble: (scene) => scene.setClocks({ logAheadMs: -hourMs }),
  }));

export const clockHazards: readonly Hazard[] = [...ofWaits, ...ofBudgets, ...ofFailovers];
