/** Steps that the scripts of several hazards share: the events of scheduler, agents and metrics. */
import type { EventOf } from "@trainyard/contracts";
import { AllocationEndCause, EndReason } from "@trainyard/contracts/events";
import type { Scene } from "./scene.ts";
import { single } from "./submissions.ts";

export type Ended = EventOf<"AllocationEnded">;
type Sealed = NonNullable<Ended["data"]["sealed"]>["checkpoints"];

export const started = { type: "AllocationStarted", data: { starts: [] } } as const;
export const finished = exited(0, EndReason.FINISHED);
export const acknowledged = exited(0, EndReason.ACKNOWLEDGED_STOP);
export const crashed = exited(1, EndReason.ERROR);
export const agentLost = endedBy(AllocationEndCause.AGENT_LOST);
export const withdrawn = endedBy(AllocationEndCause.WITHDRAWN);

/** The end of a run with these checkpoints left to deliver; if there are none, the event names none. */
export function exited(code: number, reason: EndReason, checkpoints: Sealed = []): Ended {
  const exits = [{ nodeRank: 0, agent: "a1", code, signal: "", message: "" }];
  const endRecord = { reason, message: "" };
  const data = { cause: AllocationEndCause.EXITED, exits, message: "", endRecord };
  const sealed = checkpoints.length === 0 ? {} : { sealed: { checkpoints } };
  return { type: "AllocationEnded", data: { ...data, ...sealed } };
}

export function endedBy(cause: AllocationEndCause): Ended {
  return { type: "AllocationEnded", data: { cause, exits: [], message: "" } };
}

/** An experiment of one trial, whose first run has started. */
export async function running(scene: Scene): Promise<void> {
  await scene.create(single);
  await scene.settle();
  await scene.tell(scene.allocation(1), started);
  await scene.settle();
}

export async function report(scene: Scene, run: number, step: number): Promise<void> {
  const trial = `${scene.id}.1`;
  const reportKey = `0-${run}-${step}`;
  const data = { trial, run, step, scalars: { loss: 1 / step }, reportKey, nonNumeric: [] };
  await scene.tell(`measurement-${trial}`, { type: "ValidationReported", data });
}

/** Trains the requested run of the first trial to its end. */
export async function finish(scene: Scene): Promise<void> {
  await scene.settle();
  const unended = scene.unended();
  if (unended === null) return;
  await scene.tell(scene.allocation(unended.run), started, finished);
}

/** Trains the requested run of each trial to its end, trial by trial. */
export async function finishAll(scene: Scene): Promise<void> {
  for (let number = 1; ; number += 1) {
    await scene.settle();
    const unended = scene.unended(number);
    if (unended === null) return;
    await scene.tell(scene.allocation(unended.run, number), started, finished);
  }
}

export function proposals(scene: Scene): number {
  return scene.events(scene.search).filter(({ type }) => type === "TrialProposed").length;
}

export function differs(what: string, found: unknown, wanted: unknown): readonly string[] {
  const [is, should] = [JSON.stringify(found), JSON.stringify(wanted)];
  return is === should ? [] : [`${what}: ${is}, wanted ${should}`];
}
