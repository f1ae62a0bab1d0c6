/**
 * Tests verbs on ended experiments and on single trials, each as a script: a sweep kills the service that handles it
 * before and after each of its commits.
 */
import { AllocationEndCause, StopKind } from "@trainyard/contracts/events";
import { encodeRequest } from "@trainyard/runtime";
import type { Hazard } from "./hazard.ts";
import type { Scene } from "./scene.ts";
import {
  crashed,
  differs,
  endedBy,
  finish,
  finishAll,
  finished,
  running,
  started,
} from "./scene-steps.ts";
import { random } from "./submissions.ts";

const killed = endedBy(AllocationEndCause.KILLED);
/** Longer than the grace period of the simulated platform. */
const graceMs = 40_000;

async function hasEnded(scene: Scene): Promise<void> {
  await scene.until(() => scene.outcome().experiment !== "not ended", "the experiment has ended");
  await scene.settle();
}

/** Kills a single trial together with its experiment. */
async function killedWhole(scene: Scene): Promise<void> {
  await running(scene);
  await scene.stop(StopKind.KILL);
  await scene.settle();
  await scene.rest();
  const unended = scene.unended();
  if (unended !== null) await scene.tell(scene.allocation(unended.run), killed);
  await hasEnded(scene);
}

async function continues(scene: Scene, more: { readonly maxTrials?: number } = {}): Promise<void> {
  await scene.use(
    "ContinueExperiment",
    encodeRequest("experiments", "ContinueExperiment", {
      experiment: scene.id,
      lengthUnit: "",
      ...more,
    }),
  );
}

/** Waits until the trial has a run again. */
async function again(scene: Scene, number = 1): Promise<void> {
  await scene.until(() => scene.unended(number) !== null, `trial ${number} runs again`);
}

function experimentEvents(scene: Scene): readonly string[] {
  return scene
    .events(`experiment-${scene.id}`)
    .map(({ type }) => type.replace("Experiment", ""))
    .filter((name) => name !== "Created" && name !== "Activated");
}

export const lifeHazards: readonly Hazard[] = [
  {
    name: "an experiment that was killed continues, and completes",
    async script(scene) {
      await killedWhole(scene);
      await continues(scene);
      await again(scene);
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => differs("the runs", scene.requests().length, 2),
  },
  {
    name: "an experiment continues, and is killed at once",
    async script(scene) {
      await killedWhole(scene);
      await continues(scene);
      await scene.stop(StopKind.KILL);
      await scene.rest();
      const unended = scene.unended();
      if (unended !== null) await scene.tell(scene.allocation(unended.run), killed);
      await scene.rest();
    },
    trial: "canceled",
    experiment: "canceled",
  },
  {
    name: "an experiment that completed continues with more trials",
    async script(scene) {
      await scene.create(random(2, 2));
      await finishAll(scene);
      await hasEnded(scene);
      await continues(scene, { maxTrials: 3 });
      await again(scene, 3);
      await scene.tell(scene.allocation(1, 3), started, finished);
    },
    trial: "completed",
    experiment: "completed",
  },
  {
    name: "one trial is killed and taken up again, and its experiment completes",
    async script(scene) {
      await scene.create(random(2, 2));
      await scene.settle();
      await scene.tell(scene.allocation(1), started);
      await scene.use(
        "KillTrial",
        encodeRequest("experiments", "KillTrial", { trial: `${scene.id}.1`, reason: "" }),
      );
      await scene.until(() => scene.unended()?.stopping === true, "the run is asked to stop");
      await scene.tell(scene.allocation(1), killed);
      await scene.until(() => scene.unended() === null, "the run has ended");
      await scene.rest();
      await scene.use(
        "RestartTrial",
        encodeRequest("experiments", "RestartTrial", { trial: `${scene.id}.1` }),
      );
      await again(scene);
      await finishAll(scene);
    },
    trial: "completed",
    experiment: "completed",
  },
  {
    name: "an experiment is described, archived and taken back after its end",
    async script(scene) {
      await running(scene);
      await finish(scene);
      await hasEnded(scene);
      const { id: experiment } = scene;
      const words = { notes: "n", addLabels: [], removeLabels: [] };
      await scene.use(
        "DescribeExperiment",
        encodeRequest("experiments", "DescribeExperiment", { experiment, ...words }),
      );
      await scene.use(
        "ArchiveExperiment",
        encodeRequest("experiments", "ArchiveExperiment", {
          experiment,
          archived: true,
          reason: "",
        }),
      );
      await scene.use(
        "ArchiveExperiment",
        encodeRequest("experiments", "ArchiveExperiment", {
          experiment,
          archived: false,
          reason: "",
        }),
      );
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) =>
      differs("its events", experimentEvents(scene), [
        "Ended",
        "Described",
        "Archived",
        "Unarchived",
      ]),
  },
  {
    name: "a deleted experiment that is brought back stays, and continues",
    async script(scene) {
      await killedWhole(scene);
      const { id: experiment } = scene;
      await scene.use(
        "DeleteExperiment",
        encodeRequest("experiments", "DeleteExperiment", { experiment, reason: "" }),
      );
      await scene.use(
        "UndeleteExperiment",
        encodeRequest("experiments", "UndeleteExperiment", { experiment }),
      );
      await scene.pass(graceMs);
      await continues(scene);
      await again(scene);
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) =>
      differs("its events", experimentEvents(scene), [
        "StopRequested",
        "Ended",
        "DeletionRequested",
        "DeletionUndone",
        "Continued",
        "Ended",
      ]),
  },
  {
    name: "a deleted experiment is gone when its grace is over",
    async script(scene) {
      await running(scene);
      await finish(scene);
      await hasEnded(scene);
      await scene.use(
        "DeleteExperiment",
        encodeRequest("experiments", "DeleteExperiment", { experiment: scene.id, reason: "" }),
      );
      await scene.pass(graceMs);
      await scene.until(() => experimentEvents(scene).at(-1) === "Deleted", "it is deleted");
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) =>
      differs("its events", experimentEvents(scene), ["Ended", "DeletionRequested", "Deleted"]),
  },
  {
    name: "a trial that has failed for good is taken up again after the end, and completes",
    async script(scene) {
      await running(scene);
      for (let run = 1; run <= 3; run += 1) {
        if (run > 1) await scene.tell(scene.allocation(run), started);
        await scene.tell(scene.allocation(run), crashed);
        await scene.settle();
      }
      await hasEnded(scene);
      await scene.use(
        "RestartTrial",
        encodeRequest("experiments", "RestartTrial", { trial: `${scene.id}.1` }),
      );
      await again(scene);
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
  },
];
