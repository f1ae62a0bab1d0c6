/**
 * The hazards of a log that goes back under running services, as when a backup is restored or a failover loses commits.
 */
import type { Hazard } from "./hazard.ts";
import type { Scene } from "./scene.ts";
import {
  differs,
  finishAll,
  finished,
  proposals,
  report,
  running,
  withdrawn,
} from "./scene-steps.ts";
import { random, single, wide } from "./submissions.ts";

/** Trains the started run of the first trial to its end. */
async function finish(scene: Scene): Promise<void> {
  await scene.settle();
  const run = scene.unended()?.run;
  if (run !== undefined) await scene.tell(scene.allocation(run), finished);
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
    check: (scene) => differs("runs", scene.requests().length, 1),
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
    check: (scene) => differs("trials", proposals(scene), 4),
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
      for (let step = 1; step <= lost + 2; step += 1) await report(scene, 1, step);
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => differs("runs", scene.requests().length, 1),
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
      for (let number = 1; number <= proposals(scene); number += 1) {
        await scene.tell(scene.allocation(1, number), withdrawn);
      }
      await scene.settle();
      await scene.activate();
      await scene.settle();
    },
    trial: "not ended",
    experiment: "not ended",
    check: (scene) => {
      const runs = Array.from({ length: proposals(scene) }, (_, n) => scene.unended(n + 1));
      const going = runs.filter((run) => run?.run === 2 && !run.stopping).length;
      return differs("trials that continue with their second run", going, proposals(scene));
    },
  },
];
