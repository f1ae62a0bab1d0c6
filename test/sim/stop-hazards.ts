/**
 * The hazards of stops that the scheduler requests by itself: to make room, to drain an agent, and at a run's time
 * limit.
 */
import { AllocationEndCause, StopMode, StopWhy } from "@trainyard/contracts/events";
import type { Hazard } from "./hazard.ts";
import type { Scene } from "./scene.ts";
import {
  acknowledged,
  differs,
  type Ended,
  endedBy,
  finish,
  running,
  started,
} from "./scene-steps.ts";

/** The end of a script without the SDK after SIGTERM. */
const terminated: Ended = {
  type: "AllocationEnded",
  data: {
    cause: AllocationEndCause.EXITED,
    exits: [{ nodeRank: 0, agent: "a1", code: 143, signal: "", message: "" }],
    message: "",
  },
};
const killed = endedBy(AllocationEndCause.KILLED);
const checkpoints = [1, 2, 3, 4].map(
  (n) => `${"abcdef"[n]?.repeat(8)}-0000-4000-8000-00000000000${n}`,
);

/** The scheduler asks a run to stop, which ends with or without a complete checkpoint. */
async function stopped(
  scene: Scene,
  why: StopWhy,
  { run = 1, step = 0, end = acknowledged }: { run?: number; step?: number; end?: Ended } = {},
): Promise<void> {
  const data = { mode: StopMode.GRACEFUL, why, graceMs: 60_000 };
  await scene.tell(scene.allocation(run), { type: "AllocationStopRequested", data });
  if (step > 0) {
    await scene.tell(`checkpoint-${checkpoints[run - 1]}`, {
      type: "CheckpointCompleted",
      data: { trial: `${scene.id}.1`, run, step, manifestDigest: "d", files: 1, bytes: 1 },
    });
  }
  await scene.tell(scene.allocation(run), end);
  await scene.settle();
}

function ended(scene: Scene): { readonly steps: readonly number[]; readonly restarts: number } {
  const steps = scene.requests().map(({ fromStep }) => fromStep);
  const end = scene.events(scene.trial()).findLast(({ type }) => type === "TrialEnded");
  return { steps, restarts: end?.type === "TrialEnded" ? end.data.restarts : -1 };
}

export const stopHazards: readonly Hazard[] = [
  {
    name: "a run that makes room for another continues from its checkpoint, and no restart is counted",
    async script(scene) {
      await running(scene);
      await stopped(scene, StopWhy.PREEMPTED, { step: 10 });
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => differs("the runs", ended(scene), { steps: [0, 10], restarts: 0 }),
  },
  {
    name: "a run that is killed because its agent is drained continues, as often as that happens",
    async script(scene) {
      await running(scene);
      for (let run = 1; run <= 4; run += 1) {
        if (run > 1) await scene.tell(scene.allocation(run), started);
        await stopped(scene, StopWhy.DRAIN, { run, end: killed });
      }
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => differs("the runs", ended(scene), { steps: [0, 0, 0, 0, 0], restarts: 0 }),
  },
  {
    name: "a run that makes room while its experiment is paused continues when that is activated",
    async script(scene) {
      await running(scene);
      await scene.pause();
      await stopped(scene, StopWhy.PREEMPTED, { step: 10 });
      await scene.activate();
      await scene.until(() => scene.requests().length === 2, "the next run is requested");
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => differs("the runs", ended(scene), { steps: [0, 10], restarts: 0 }),
  },
  {
    name: "a pause that is taken back costs the run nothing, unless the run has obeyed",
    async script(scene) {
      await running(scene);
      for (const obeys of [false, true]) {
        await scene.pause();
        await scene.until(() => scene.unended()?.stopping === true, "the stop is requested");
        await scene.activate();
        await scene.until(() => scene.unended()?.stopping === false, "the stop is withdrawn");
        if (obeys) await scene.tell(scene.allocation(1), acknowledged);
      }
      await scene.until(() => scene.requests().length === 2, "the next run is requested");
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => differs("the runs", ended(scene), { steps: [0, 0], restarts: 0 }),
  },
  {
    name: "a run that ends by SIGTERM while its experiment is active again continues, and no restart is counted",
    async script(scene) {
      await running(scene);
      await scene.pause();
      await scene.until(() => scene.unended()?.stopping === true, "the stop is requested");
      await scene.tell(scene.allocation(1), { type: "AllocationStopAcknowledged", data: {} });
      await scene.activate();
      await scene.tell(scene.allocation(1), terminated);
      await scene.until(() => scene.requests().length === 2, "the next run is requested");
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => differs("the runs", ended(scene), { steps: [0, 0], restarts: 0 }),
  },
  {
    name: "runs that reach their time limit continue for as long as each completes a checkpoint",
    async script(scene) {
      await running(scene);
      for (let run = 1; run <= 4; run += 1) {
        if (run > 1) await scene.tell(scene.allocation(run), started);
        await stopped(scene, StopWhy.TIME_LIMIT, { run, step: run * 10 });
      }
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) =>
      differs("the runs", ended(scene), { steps: [0, 10, 20, 30, 40], restarts: 0 }),
  },
  {
    name: "runs that reach their time limit without a checkpoint use up the restarts",
    async script(scene) {
      await running(scene);
      for (let run = 1; run <= 3; run += 1) {
        if (run > 1) await scene.tell(scene.allocation(run), started);
        await stopped(scene, StopWhy.TIME_LIMIT, { run, end: run === 2 ? killed : acknowledged });
      }
    },
    trial: "failed",
    experiment: "failed",
    check: (scene) => differs("the runs", ended(scene), { steps: [0, 0, 0], restarts: 2 }),
  },
];
