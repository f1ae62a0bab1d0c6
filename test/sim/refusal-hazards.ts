/**
 * The hazards of commits that the log refuses for good: each delays only its own experiment, until the cause is
 * repaired.
 */
import type { Hazard } from "./hazard.ts";
import type { Refusals } from "./refusals.ts";
import type { Scene } from "./scene.ts";
import { agentLost, finished, started } from "./scene-steps.ts";
import { random, single, wide } from "./submissions.ts";

const forEver = Number.POSITIVE_INFINITY;
/** The number of refused trials: this many failures stop a loop that blames itself for each. */
const refused = 3;

/** Trains every existing trial to its end. */
async function finishAll(scene: Scene, experiment: string): Promise<void> {
  for (let number = 1; ; number += 1) {
    await scene.settle();
    const trial = `trial-${experiment}.${number}`;
    const isOpen = scene.events(trial).at(-1)?.type === "RunRequested";
    if (!isOpen) return;
    await scene.tell(`allocation-${experiment}.${number}#1`, started, finished);
  }
}

/** Experiments with refused commits, followed by one without; the refused ones continue once the cause is repaired. */
async function beside(scene: Scene, what: Refusals["what"]): Promise<void> {
  const refuse = (experiments: Refusals["experiments"]): void =>
    scene.refuse({ what, experiments, agent: "", untilMs: forEver });
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
  if (last !== "ExperimentEnded") {
    throw new Error(`the last event of the unaffected experiment is ${last}`);
  }
  scene.refuse(null);
  await scene.operate();
  for (const experiment of experiments) await finishAll(scene, experiment);
  scene.id = experiments[0] ?? "";
}

/**
 * An agent returns with more runs than one commit holds; the first part of a retry is accepted, and the rest refused
 * once more.
 */
async function returnsWithMany(scene: Scene): Promise<void> {
  await scene.create(wide);
  await scene.settle();
  await scene.pause();
  await scene.settle();
  for (const number of trials(scene)) await scene.tell(scene.allocation(1, number), agentLost);
  await scene.settle();
  const refuse = (fromTrial: number): void =>
    scene.refuse({ what: "trial", experiments: "all", agent: "", fromTrial, untilMs: forEver });
  refuse(0);
  const runs = trials(scene).map((number) => {
    const checkpoint = `eeeeeeee-0000-4000-8000-${String(number).padStart(12, "0")}`;
    const checkpoints = [{ checkpoint, step: 10, bytes: 1 }];
    return { allocation: `${scene.id}.${number}#1`, checkpoints };
  });
  const holder = { folder: "f1", place: "p1", startedMs: 1 };
  const data = { occupations: [], slots: [], left: { runs }, ...holder };
  await scene.tell("agent-a1", { type: "AgentReturned", data });
  await scene.rest();
  refuse(runs.length - 5);
  scene.driveAgain();
  await scene.until(() => isNamed(scene, 1), "the first part is taken");
  await scene.pass(10_000);
  scene.refuse(null);
  await scene.operate();
  await scene.settle();
}

function isNamed(scene: Scene, number: number): boolean {
  return scene.events(scene.trial(number)).some(({ type }) => type === "RunCheckpointsNamed");
}

function trials(scene: Scene): readonly number[] {
  const proposed = scene.events(scene.search).filter(({ type }) => type === "TrialProposed");
  return proposed.map((_, n) => n + 1);
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
  {
    name: "the return of an agent with very many runs that was parked, and is refused in part when it is driven again",
    long: true,
    script: returnsWithMany,
    trial: "not ended",
    experiment: "not ended",
    check(scene) {
      const missing = trials(scene).filter((number) => !isNamed(scene, number));
      return missing.length === 0 ? [] : [`trials ${missing.join()} did not get the rest`];
    },
  },
];
