/** Values that are under way, trials that are continued, and clocks that differ. */
import { randomUUID } from "node:crypto";
import { systemClock } from "@trainyard/kernel/system-clock";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import {
  agentReturned,
  allocationEnded,
  completed,
  declared,
  runEnded,
  runRequested,
  trialCheckpointed,
  trialContinued,
  trialEnded,
  validated,
} from "./testing/events.ts";
import { soon, TestGc } from "./testing/test-gc.ts";

let gc: TestGc;

beforeAll(async () => {
  gc = await TestGc.open();
});
afterEach(() => gc.stop());
afterAll(() => gc[Symbol.asyncDispose]());

const condemned = ["CheckpointCondemned"];
const becomes = (checkpoint: string | undefined, expected: readonly string[]) =>
  vi.waitFor(async () => expect(await gc.retention(checkpoint ?? "")).toEqual(expected), soon);

/** Stores a checkpoint whose declaration names a validation; the file system has no file of it. */
async function store(trial: string, step: number, lastValidation = ""): Promise<string> {
  const id = randomUUID();
  const named = { run: 1, lastValidation };
  const events = [
    declared(trial, step, gc.root, gc.storageId, named),
    completed(trial, step, 1, 1),
  ];
  await gc.stage.tell(`checkpoint-${id}`, ...events);
  await gc.stage.tell(`trial-${trial}`, trialCheckpointed(id, 1, step));
  return id;
}
const arrive = (trial: string, step: number, loss: number) =>
  gc.stage.tell(`measurement-${trial}`, validated(trial, step, loss));
async function keptBy(experiment: string, checkpoint: string): Promise<readonly string[]> {
  const message = { experiment, checkpoint, limit: 0, after: "" };
  const answer = await vi.waitFor(
    () => gc.stage.ask("checkpoint-gc", "ExplainRetention", message),
    soon,
  );
  if (answer.kind !== "ok") throw new Error(JSON.stringify(answer));
  return answer.reply.verdicts[0]?.keptBy ?? [];
}

test("while the validations of a run have not arrived none of its checkpoints without a value is condemned; once they have, the best stays", async () => {
  await gc.start(600);
  const experiment = await gc.experiment([0, 1, 1]);
  const [late, bare] = [`${experiment}.1`, `${experiment}.2`];
  for (const trial of [late, bare]) await gc.trial(trial);
  const stored: string[] = [];
  for (const step of [1, 2, 3]) stored.push(await store(late, step, `0-${step}`));
  const never: string[] = [];
  for (const step of [1, 2, 3]) never.push(await store(bare, step));
  // A script that never validates is thinned while it runs.
  for (const one of never.slice(0, 2)) await becomes(one, condemned);
  for (const one of [never[2], ...stored]) expect(await gc.retention(one ?? "")).toEqual([]);
  expect(await keptBy(experiment, stored[0] ?? "")).toEqual([
    "its validation is not known yet: the run's reports up to 0-2 have not arrived",
  ]);
  await arrive(late, 1, 0.1);
  await arrive(late, 2, 0.9);
  await becomes(stored[1], condemned);
  expect(await gc.retention(stored[0] ?? "")).toEqual([]);
});

test("a step that is validated in several reports has the searcher's metric from whichever has it, also from one under way", async () => {
  await gc.start(600);
  const experiment = await gc.experiment([0, 1, 1]);
  const trial = `${experiment}.1`;
  await gc.trial(trial);
  const report = (step: number, number: number, scalars: Readonly<Record<string, number>>) => {
    const validation = validated(trial, step, scalars, { run: 1, reportKey: `0-${number}` });
    return gc.stage.tell(`measurement-${trial}`, validation);
  };
  const stored: string[] = [];
  for (const step of [1, 2, 3]) stored.push(await store(trial, step, `0-${2 * step}`));
  await report(1, 1, { other: 1 });
  await gc.settled();
  expect(await gc.retention(stored[0] ?? "")).toEqual([]);
  await report(1, 2, { loss: 0.1 });
  await report(2, 3, { other: 2 });
  await report(2, 4, { loss: 0.9 });
  await becomes(stored[1], condemned);
  expect(await gc.retention(stored[0] ?? "")).toEqual([]);
});

test("the last checkpoint of a lost run waits for the return of its agent and for its validation, also after the experiment's end", async () => {
  await gc.start(600);
  const experiment = await gc.experiment([0, 1, 0]);
  const trial = `${experiment}.1`;
  await gc.trial(trial);
  const first = await store(trial, 1, "0-1");
  await arrive(trial, 1, 0.5);
  const last = await store(trial, 2, "0-2");
  await gc.stage.tell(`allocation-${trial}#1`, allocationEnded());
  await gc.stage.tell(`trial-${trial}`, runEnded(1), trialEnded());
  await gc.endExperiment(experiment);
  await gc.settled();
  expect(await gc.retention(last)).toEqual([]);
  expect((await keptBy(experiment, last))[0]).toContain(`no agent saw the end of run ${trial}#1`);
  await gc.stage.tell("agent-a", agentReturned(`${trial}#1`, "0-2"));
  await vi.waitFor(
    async () => expect((await keptBy(experiment, last))[0]).toContain("up to 0-2"),
    soon,
  );
  await arrive(trial, 2, 0.7);
  await becomes(last, condemned);
  expect(await gc.retention(first)).toEqual([]);
});

test("a value that never arrives is no longer waited for eight days after the end of the run", async () => {
  const experiment = await gc.experiment([0, 1, 0]);
  const trial = `${experiment}.1`;
  await gc.trial(trial);
  const last = await store(trial, 1, "0-1");
  await gc.stage.tell(`allocation-${trial}#1`, allocationEnded("0-1"));
  await gc.stage.tell(`trial-${trial}`, runEnded(1), trialEnded());
  await gc.endExperiment(experiment);
  await gc.start(600);
  await gc.settled();
  expect(await gc.retention(last)).toEqual([]);
  await gc.stop();
  const earlier = "ended_ms = ended_ms - 8 * 86400000.0";
  await gc.stage.sql(`update checkpoint_gc.run_ends set ${earlier}`);
  await gc.stage.sql(`update checkpoint_gc.overdue set ${earlier}`);
  await gc.start(600);
  await becomes(last, condemned);
  await vi.waitFor(async () => {
    const left = `select trial from checkpoint_gc.overdue where trial = '${trial}'`;
    expect(await gc.stage.sql(left)).toEqual([]);
  }, soon);
});

test("a trial that is continued holds the checkpoint of another trial that it began from", async () => {
  await gc.start(600);
  const donor = await gc.experiment([0, 0, 0]);
  await gc.trial(`${donor}.1`);
  const source = await store(`${donor}.1`, 1);
  const heir = await gc.experiment([0, 0, 9]);
  const trial = `${heir}.1`;
  await gc.trial(trial, source);
  const own = await store(trial, 2);
  await gc.stage.tell(`trial-${trial}`, runEnded(1), trialEnded());
  await gc.stage.tell(`trial-${trial}`, trialContinued(), runRequested(2, own, 2));
  await gc.endTrial(`${donor}.1`);
  await gc.endExperiment(donor);
  await gc.settled();
  expect(await gc.retention(source)).toEqual([]);
  expect(await keptBy(donor, source)).toEqual([`trial ${trial} begins from it`]);
  await gc.stage.tell(`trial-${trial}`, runEnded(2), trialEnded());
  await becomes(source, condemned);
});

test("a host whose clock is a day ahead deletes nothing before the grace is over", async () => {
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + 86_400_000 };
  await gc.start(600);
  const { experiment, checkpoints } = await gc.trained([0, 0, 0], [1]);
  const [checkpoint = ""] = checkpoints;
  await gc.endExperiment(experiment);
  await becomes(checkpoint, condemned);
  await gc.stop();
  // The grace is that of the first host; checkpoints that this one condemns have none.
  await gc.start(0, { clock });
  const other = await gc.trained([0, 0, 0], [1]);
  await gc.endExperiment(other.experiment);
  const deleted = [...condemned, "CheckpointDeletionStarted", "CheckpointDeleted"];
  await becomes(other.checkpoints[0], deleted);
  expect(await gc.retention(checkpoint)).toEqual(condemned);
  expect(gc.has(checkpoint)).toBe(true);
});
