/** The hazards of commits that the log refuses for good: each is its own experiment's alone, until somebody mends it. */
import { AllocationEndCause, EndReason } from "@trainyard/contracts/events";
import type { Hazard } from "./hazards.ts";
import type { Refusals } from "./refusals.ts";
import type { Scene } from "./scene.ts";
import { random, single } from "./submissions.ts";

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

/** As many as stop a loop that takes each for a fault of its own. */
const refused = 3;

/** Every trial that there is trains to its end. */
async function finishAll(scene: Scene, experiment: string): Promise<void> {
  for (let number = 1; ; number += 1) {
    await scene.settle();
    const trial = `trial-${experiment}.${number}`;
    const isOpen = scene.events(trial).at(-1)?.type === "RunRequested";
    if (!isOpen) return;
    await scene.tell(`allocation-${experiment}.${number}#1`, started, finished);
  }
}

/** Experiments whose commits are refused, and one after them that is as any other; the others follow once it is mended. */
async function beside(scene: Scene, what: Refusals["what"]): Promise<void> {
  const refuse = (experiments: Refusals["experiments"]): void =>
    scene.refuse({ what, experiments, agent: "", untilMs: Number.POSITIVE_INFINITY });
  const experiments: string[] = [];
  refuse("all");
  for (let n = 0; n < refused; n += 1) {
    await scene.create(single);
    experiments.push(scene.id);
  }
  refuse(experiments);
  await scene.create(random(4, 2));
  const bystander = scene.id;
  await finishAll(scene, bystander);
  await scene.settle();
  const last = scene.events(`experiment-${bystander}`).at(-1)?.type;
  if (last !== "ExperimentEnded") throw new Error(`the bystander's last event is ${last}`);
  scene.refuse(null);
  await scene.operate();
  for (const experiment of experiments) await finishAll(scene, experiment);
  scene.id = experiments[0] ?? "";
}

export const refusalHazards: readonly Hazard[] = [
  {
    name: "searches whose events the log refuses, beside another",
    script: (scene) => beside(scene, "search"),
    trial: "completed",
    experiment: "completed",
  },
  {
    name: "trials whose events the log refuses, beside another",
    script: (scene) => beside(scene, "trial"),
    trial: "completed",
    experiment: "completed",
  },
];
