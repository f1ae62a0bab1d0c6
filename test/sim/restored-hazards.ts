/** The hazards of a log that goes back under running services, as when a backup is restored or a failover loses commits. */
import { AllocationEndCause, EndReason } from "@trainyard/contracts/events";
import type { Hazard } from "./hazard.ts";
import type { Scene } from "./scene.ts";
import { random, single, wide } from "./submissions.ts";

const started = { type: "AllocationStarted", data: { starts: [] } } as const;
const exits = [{ nodeRank: 0, agent: "a1", code: 0, signal: "", message: "" }];
const finished = {
  type: "AllocationEnded",
  data: {
    cause: AllocationEndCause.EXITED,
    exits,
    message: "",
    endRecord: { reason: EndReason.FINISHED, message: "" },
  },
} as const;
const withdrawn = {
  type: "AllocationEnded",
  data: { cause: AllocationEndCause.WITHDRAWN, exits: [], message: "" },
} as const;

async function running(scene: Scene): Promise<void> {
  await scene.create(single);
  await scene.settle();
  await scene.tell(scene.allocation(1), started);
  await scene.settle();
}

/** The run that is wanted now trains to its end. */
async function finish(scene: Scene): Promise<void> {
  await scene.settle();
  const run = scene.unended()?.run;
  if (run !== undefined) await scene.tell(scene.allocation(run), finished);
}

async function finishAll(scene: Scene): Promise<void> {
  for (let number = 1; ; number += 1) {
    await scene.settle();
    const unended = scene.unended(number);
    if (unended === null) return;
    await scene.tell(scene.allocation(unended.run, number), started, finished);
  }
}

function trials(scene: Scene): number {
  return scene.events(scene.search).filter(({ type }) => type === "TrialProposed").length;
}

function wanted(what: string, found: number, should: number): readonly string[] {
  return found === should ? [] : [`${what}: ${found}, wanted ${should}`];
}

async function report(scene: Scene, step: number): Promise<void> {
  const trial = `${scene.id}.1`;
  const about = { trial, run: 1, step, reportKey: `0-${step}`, nonNumeric: [] };
  const data = { ...about, scalars: { loss: 1 / step } };
  await scene.tell(`measurement-${trial}`, { type: "ValidationReported", data });
}

export const restoredHazards: readonly Hazard[] = [
  {
    name: "a log that goes back to before a run ended",
    async script(scene) {
      await running(scene);
      const restore = scene.backup();
      await scene.tell(scene.allocation(1), finished);
      await scene.settle();
      restore();
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => wanted("runs", scene.requests().length, 1),
  },
  {
    name: "a log that goes back to before an experiment was created, whose number is given again",
    async script(scene) {
      await running(scene);
      const restore = scene.backup();
      await scene.create(single);
      await finishAll(scene);
      restore();
      await scene.rest();
      await scene.create(random(4, 2));
      await finishAll(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => wanted("trials", trials(scene), 4),
  },
  {
    name: "a log that goes back and at once has other events where it was",
    async script(scene) {
      await running(scene);
      const restore = scene.backup();
      const before = scene.log.store.head;
      await scene.pause();
      await scene.settle();
      const lost = scene.log.store.head - before;
      restore();
      for (let step = 1; step <= lost + 2; step += 1) await report(scene, step);
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => wanted("runs", scene.requests().length, 1),
  },
  {
    name: "a log that goes back under a pause of very many trials, which are paused again",
    long: true,
    async script(scene) {
      await scene.create(wide);
      await scene.settle();
      const restore = scene.backup();
      await scene.pause();
      await scene.until(() => scene.unended()?.stopping === true, "the first is asked to stop");
      restore();
      await scene.pause();
      await scene.settle();
      for (let number = 1; number <= trials(scene); number += 1) {
        await scene.tell(scene.allocation(1, number), withdrawn);
      }
      await scene.settle();
      await scene.activate();
      await scene.settle();
    },
    trial: "not ended",
    experiment: "not ended",
    check: (scene) => {
      const runs = Array.from({ length: trials(scene) }, (_, n) => scene.unended(n + 1));
      const going = runs.filter((run) => run?.run === 2 && !run.stopping).length;
      return wanted("trials that go on with their second run", going, trials(scene));
    },
  },
];
