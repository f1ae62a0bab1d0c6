/** The hazards of reports that a search cannot use: the trial fails, whatever its run achieved. */
import { EndReason } from "@trainyard/contracts/events";
import type { Hazard } from "./hazard.ts";
import type { Scene } from "./scene.ts";
import { exited, started } from "./scene-steps.ts";
import { halvingOfOne } from "./submissions.ts";

/** A run that reports a metric other than the search's, and ends. */
async function reportsAnother(scene: Scene, reason: EndReason): Promise<void> {
  await scene.create(halvingOfOne);
  await scene.settle();
  await scene.tell(scene.allocation(1), started);
  await scene.settle();
  const trial = `${scene.id}.1`;
  const report = { trial, run: 1, step: 1, scalars: { accuracy: 0.5 } };
  await scene.tell(`measurement-${trial}`, {
    type: "ValidationReported",
    data: { ...report, reportKey: "0", nonNumeric: [] },
  });
  if (reason === EndReason.ACKNOWLEDGED_STOP) await scene.settle();
  await scene.tell(scene.allocation(1), exited(0, reason));
}

export const reportHazards: readonly Hazard[] = [
  {
    name: "a run that has finished before its report is found to lack the metric",
    script: (scene) => reportsAnother(scene, EndReason.FINISHED),
    trial: "failed",
    experiment: "failed",
  },
  {
    name: "a run that stops because its report lacks the metric",
    script: (scene) => reportsAnother(scene, EndReason.ACKNOWLEDGED_STOP),
    trial: "failed",
    experiment: "failed",
  },
];
