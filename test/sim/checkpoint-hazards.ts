/** The hazards of checkpoints that a run stored and that are still on their way when it ends. */
import { EndReason } from "@trainyard/contracts/events";
import type { Hazard } from "./hazard.ts";
import type { Scene } from "./scene.ts";
import { agentLost, crashed, exited, finish, running } from "./scene-steps.ts";

const late = "cccccccc-0000-4000-8000-000000000003";
const holder = { folder: "f1", place: "p1", startedMs: 1 };
const sealed = [{ checkpoint: late, step: 10, bytes: 1 }];
/** Longer than a next run waits for its predecessor's checkpoints, twice: a new leader may start the wait again. */
const beyondWaitMs = 25 * 60_000;
const crashedAfterSealing = exited(1, EndReason.ERROR, sealed);
const finishedAfterSealing = exited(0, EndReason.FINISHED, sealed);

async function complete(scene: Scene, checkpoint = late, step = 10): Promise<void> {
  const about = { trial: `${scene.id}.1`, run: 1, step };
  await scene.tell(`checkpoint-${checkpoint}`, {
    type: "CheckpointCompleted",
    data: { ...about, manifestDigest: "d", files: 1, bytes: 1 },
  });
}

function startsAre(scene: Scene, wanted: readonly number[]): readonly string[] {
  const found = scene.requests().map(({ fromStep }) => fromStep);
  const same = JSON.stringify(found) === JSON.stringify(wanted);
  return same ? [] : [`the runs start from ${found}, wanted ${wanted}`];
}

const older = "cccccccc-0000-4000-8000-000000000001";
const newer = "cccccccc-0000-4000-8000-000000000002";
const damaged = {
  type: "CheckpointDamaged",
  data: { problems: [], count: 1, by: "" },
} as const;

export const checkpointHazards: readonly Hazard[] = [
  {
    name: "two checkpoints that are found damaged, one run after the other, cost no restart",
    async script(scene) {
      await running(scene);
      await complete(scene, older, 5);
      await complete(scene, newer, 10);
      await scene.settle();
      await scene.tell(scene.allocation(1), crashed);
      for (const [index, checkpoint] of [newer, older].entries()) {
        await scene.settle();
        await scene.tell(`checkpoint-${checkpoint}`, damaged);
        await scene.tell(scene.allocation(index + 2), crashed);
      }
      await scene.settle();
      await scene.tell(scene.allocation(4), crashed);
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => startsAre(scene, [0, 10, 5, 0, 0]),
  },
  {
    name: "a run that fails while its checkpoint is on its way",
    async script(scene) {
      await running(scene);
      await scene.tell(scene.allocation(1), crashedAfterSealing);
      await scene.settle();
      await complete(scene);
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => startsAre(scene, [0, 10]),
  },
  {
    name: "a run that fails, and nobody brings its checkpoint",
    long: true,
    async script(scene) {
      await running(scene);
      await scene.tell(scene.allocation(1), crashedAfterSealing);
      await scene.until(() => scene.requests().length === 2, "the wait ends", beyondWaitMs);
      await complete(scene);
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => startsAre(scene, [0, 0]),
  },
  {
    name: "a checkpoint that is refused ends the wait for it",
    async script(scene) {
      await running(scene);
      const declared = { trial: `${scene.id}.1`, run: 1, step: 10, format: "" };
      const stream = `checkpoint-${late}`;
      await scene.tell(stream, { type: "CheckpointDeclared", data: declared });
      await scene.tell(scene.allocation(1), crashedAfterSealing);
      await scene.settle();
      await scene.tell(stream, { type: "CheckpointFailed", data: { reason: "" } });
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => startsAre(scene, [0, 0]),
  },
  {
    name: "a trial that finishes while its checkpoint is on its way",
    async script(scene) {
      await running(scene);
      await scene.tell(scene.allocation(1), finishedAfterSealing);
      await scene.settle();
      await complete(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => {
      const names = scene.events(scene.trial()).map(({ type }) => type);
      const last = names.slice(-2).join();
      return last === "TrialEnded,TrialCheckpointed" ? [] : [`the trial's last are ${last}`];
    },
  },
  {
    name: "an agent that comes back with the checkpoint of a run that was given up in a pause",
    async script(scene) {
      await running(scene);
      await scene.pause();
      await scene.tell(scene.allocation(1), agentLost);
      await scene.settle();
      const runs = [
        { allocation: scene.allocation(1).slice("allocation-".length), checkpoints: sealed },
      ];
      await scene.tell("agent-a1", {
        type: "AgentReturned",
        data: { occupations: [], slots: [], left: { runs }, ...holder },
      });
      await scene.settle();
      await scene.activate();
      await scene.settle();
      await complete(scene);
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => startsAre(scene, [0, 10]),
  },
];
