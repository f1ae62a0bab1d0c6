/**
 * Tests of deletions after the database was restored from a backup. Their storage is their own: a deletion left over
 * from another test would let its marker name an event that the restore loses.
 */
import { pause } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { runtimeLimits } from "@trainyard/runtime";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { pinned } from "./testing/events.ts";
import { soon, TestGc } from "./testing/test-gc.ts";

const hold = "hold-deletions";
/** The time for the pin of a condemned checkpoint, and for the service's answer, on a busy machine. */
const graceSeconds = 8;
const condemned = ["CheckpointCondemned"];

let gc: TestGc;

beforeAll(async () => {
  gc = await TestGc.open();
});
afterEach(() => gc.stop());
afterAll(() => gc[Symbol.asyncDispose]());

const becomes = (checkpoint: string | undefined, expected: readonly string[]) =>
  vi.waitFor(async () => expect(await gc.retention(checkpoint ?? "")).toEqual(expected), soon);
/** Repeats the request until the service answers, since the service may have just started. */
const ask: typeof gc.stage.ask = (...asked) => vi.waitFor(() => gc.stage.ask(...asked), soon);

test("a checkpoint that was condemned before the backup and saved after it stays until a person releases the deletions", async () => {
  const reported: unknown[] = [];
  await gc.stage.hub.connect("registry").serve("registry", {
    RecordRewind: async ({ body }) => {
      reported.push(JSON.parse(new TextDecoder().decode(body)));
      return { kind: "ok", body: new TextEncoder().encode("{}") };
    },
  });
  await gc.start(graceSeconds);
  const { experiment, checkpoints } = await gc.trained([0, 0, 0], [1]);
  const [checkpoint = ""] = checkpoints;
  await gc.endExperiment(experiment);
  await becomes(checkpoint, condemned);
  const backup = await gc.stage.head();
  await gc.stage.tell(`checkpoint-${checkpoint}`, pinned("ada"));
  await becomes(checkpoint, [...condemned, "CheckpointSpared"]);
  await gc.stage.relay();
  const lost = await gc.stage.head();
  await gc.stop();
  // All that remembers the pin is the end of the relay's stream. The grace ends soon.
  await gc.stage.restoreTo(backup);
  await gc.start(600);
  const told = { noticedBy: "checkpoint-gc", position: lost };
  await vi.waitFor(() => expect(reported[0]).toMatchObject(told), soon);
  const rewind = { position: lost, event: "lost", noticedBy: "relay", detail: "it went back" };
  await gc.stage.tell(hold, { type: "DeletionsHeld", data: rewind });
  await gc.stage.refill();
  const asked = reported.length;
  // A pass that was asked for finds the recorded hold.
  const other = await gc.trained([9, 9, 9], [3]);
  await gc.endExperiment(other.experiment);
  const request = { checkpoint: other.checkpoints[0] ?? "", reason: "too large", globs: [] };
  await ask("checkpoint-gc", "DeleteCheckpoint", request);
  await becomes(other.checkpoints[0], condemned);
  await pause(systemClock, 2 * runtimeLimits.heldLookMs, new AbortController().signal);
  expect(reported.length).toBe(asked);
  expect(await gc.retention(checkpoint)).toEqual(condemned);
  expect(gc.has(checkpoint)).toBe(true);
  const one = { experiment, checkpoint, limit: 0, after: "" };
  const explained = await ask("checkpoint-gc", "ExplainRetention", one);
  expect(explained).toMatchObject({ kind: "ok" });
  const [verdict] = explained.kind === "ok" ? explained.reply.verdicts : [];
  expect(verdict?.waits).toBe("deletions are held: it went back");
  await gc.stage.tell(hold, { type: "DeletionsReleased", data: { by: "ada", reason: "" } });
  await becomes(checkpoint, [...condemned, "CheckpointDeletionStarted", "CheckpointDeleted"]);
  expect(gc.has(checkpoint)).toBe(false);
});
