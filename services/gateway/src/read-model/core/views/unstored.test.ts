import type { AnyEvent } from "@trainyard/contracts";
import { RunEndWhy } from "@trainyard/contracts/events";
import { expect, test } from "vitest";
import { requested, trialCreated } from "../../../testing/example-events.ts";
import { DocumentSet } from "./documents.ts";
import { project } from "./project.ts";
import { undeliveredOf } from "./unstored.ts";

const [one, two, three] = ["a", "b", "c"].map((letter) => letter.repeat(8)) as [
  string,
  string,
  string,
];
const sealed = (...checkpoints: readonly string[]) =>
  checkpoints.map((checkpoint) => ({ checkpoint, step: 1, bytes: 4e9 }));

function ended(run: number, ...checkpoints: readonly string[]): readonly [string, AnyEvent] {
  const data = { run, why: RunEndWhy.FINISHED, exits: [], message: "", countsAsRestart: false };
  const named = { sealed: { checkpoints: sealed(...checkpoints) } };
  return ["trial-1.1", { type: "RunEnded", data: { ...data, ...named } }];
}

const of = { trial: "1.1", run: 1, step: 1 };
const declared = (checkpoint: string): readonly [string, AnyEvent] => [
  `checkpoint-${checkpoint}`,
  { type: "CheckpointDeclared", data: { ...of, format: "" } },
];
const completed = (checkpoint: string): readonly [string, AnyEvent] => [
  `checkpoint-${checkpoint}`,
  { type: "CheckpointCompleted", data: { ...of, manifestDigest: "d", files: 1, bytes: 4e9 } },
];
const abandoned = (checkpoint: string): readonly [string, AnyEvent] => [
  `checkpoint-${checkpoint}`,
  { type: "CheckpointAbandoned", data: { reason: "superseded" } },
];

function undeliveredAfter(...events: readonly (readonly [string, AnyEvent])[]) {
  const documents = new DocumentSet();
  const at = { timeMs: 0, position: 1 };
  project({ stream: "trial-1.1", ...at }, trialCreated(1), documents);
  project({ stream: "trial-1.1", ...at }, requested(1, 0), documents);
  for (const [stream, event] of events) project({ stream, ...at }, event, documents);
  return undeliveredOf(documents.get("trial", "1.1") ?? {}).undelivered;
}

test("a trial shows the checkpoints that its last run has left until each is stored or given up", () => {
  const end = ended(1, one, two, three);
  expect(undeliveredAfter()).toBeUndefined();
  expect(undeliveredAfter(end)).toEqual({ checkpoints: 3, bytes: 12e9, runs: [] });
  const first = [declared(one), completed(one)];
  expect(undeliveredAfter(end, ...first)?.checkpoints).toBe(2);
  expect(undeliveredAfter(...first, end)?.checkpoints).toBe(2);
  const second = [declared(two), abandoned(two)];
  expect(undeliveredAfter(end, ...first, ...second)?.checkpoints).toBe(1);
  expect(
    undeliveredAfter(end, ...first, ...second, declared(three), completed(three)),
  ).toBeUndefined();
});

test("a trial shows nothing of runs before its last one, and what a returned agent names", () => {
  const later = ["trial-1.1", requested(2, 0)] as const;
  expect(undeliveredAfter(ended(1, one), later)).toBeUndefined();
  const data = { run: 1, checkpoints: sealed(two), awaitedUntilMs: 0 };
  const named = ["trial-1.1", { type: "RunCheckpointsNamed", data }] as const;
  expect(undeliveredAfter(ended(1, one), named, named)?.checkpoints).toBe(2);
});
