import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { ExperimentOutcome, TaskOutcome } from "@trainyard/contracts/events";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import type { Pool } from "pg";
import { expect, test } from "vitest";
import { evolveLife, type Life, Lives } from "./lives.ts";
import { emptyMeta } from "./work/correlation.ts";

const paused: AnyEvent = { type: "ExperimentPaused", data: {} };
const activated: AnyEvent = { type: "ExperimentActivated", data: {} };
const ended: AnyEvent = {
  type: "ExperimentEnded",
  data: { outcome: ExperimentOutcome.COMPLETED, reason: "" },
};
const asked: AnyEvent = {
  type: "ExperimentDeletionRequested",
  data: { graceEndMs: 1, reason: "" },
};
const undone: AnyEvent = { type: "ExperimentDeletionUndone", data: {} };
const deleted: AnyEvent = { type: "ExperimentDeleted", data: {} };

const continued: AnyEvent = {
  type: "ExperimentContinued",
  data: { continuation: 1, request: "" },
};

function lifeAfter(...events: readonly AnyEvent[]): Life {
  let life: Life = { policy: {}, endedMs: null, deletion: "none" };
  for (const event of events) {
    const { type, body } = encodeEvent(event);
    const stored = {
      commitId: "c",
      stream: "experiment-1",
      version: 1,
      position: 1,
      id: "1",
      type,
      body,
      meta: emptyMeta,
      timeMs: 5,
    };
    life = evolveLife(life, stored, () => ({}));
  }
  return life;
}

test("a continued experiment has not ended, and its deletion can be requested, undone or completed", () => {
  expect(lifeAfter(paused, activated).endedMs).toBeNull();
  expect(lifeAfter(paused, ended, activated).endedMs).toBe(5);
  expect(lifeAfter(ended, continued).endedMs).toBeNull();
  expect(lifeAfter(ended, continued, ended, asked)).toMatchObject({
    endedMs: 5,
    deletion: "asked",
  });
  expect(lifeAfter(ended, asked, undone).deletion).toBe("none");
  expect(lifeAfter(ended, asked, undone, asked, deleted).deletion).toBe("done");
});

test("a resumed task has not ended, and its deletion is final", () => {
  const over: AnyEvent = {
    type: "TaskEnded",
    data: { outcome: TaskOutcome.COMPLETED, reason: "", restarts: 0 },
  };
  expect(lifeAfter(over, { type: "TaskResumed", data: {} }).endedMs).toBeNull();
  expect(lifeAfter(over, { type: "TaskDeleted", data: {} })).toMatchObject({
    endedMs: 5,
    deletion: "done",
  });
});

/** The two tables of lives, for the statements of `Lives`. */
function tables() {
  const lives = new Map<string, Life & { readonly id: string }>();
  let cursor = { position: 0, id: "" };
  const query = async (text: string, values: readonly unknown[] = []) => {
    if (text.startsWith("select position")) return { rows: [cursor] };
    if (text.startsWith("select id")) {
      const ids = values[0] as readonly string[];
      return { rows: [...lives.values()].filter(({ id }) => ids.includes(id)) };
    }
    if (text.startsWith("update")) {
      cursor = { position: values[0] as number, id: values[1] as string };
    } else if (text.startsWith("insert")) {
      const [ids, policies, ends, deletions] = values as readonly (readonly unknown[])[];
      for (const [index, id] of (ids as readonly string[]).entries()) {
        const policy = JSON.parse(policies?.[index] as string) as Life["policy"];
        const endedMs = ends?.[index] as number | null;
        lives.set(id, { id, policy, endedMs, deletion: deletions?.[index] as Life["deletion"] });
      }
    }
    return { rows: [] };
  };
  const client = { query, release: () => {} };
  const pool = { connect: async () => client } as unknown as Pool; // Lives calls nothing else.
  return { lives, pool, reached: () => cursor.position };
}

test("a page of the log that ends by bytes loses no experiment", async () => {
  const log = createMemoryLog().as("experiments");
  const notes = "n".repeat(200_000);
  for (let number = 1; number <= 50; number += 1) {
    const { type } = encodeEvent(ended);
    const body = JSON.stringify({ outcome: 1, reason: notes });
    const events = [{ id: newEventId(), type, body }];
    const writes = [{ stream: `experiment-${number}`, expectedVersion: 0, events }];
    await log.append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
  }
  const { lives, pool, reached } = tables();
  const followed = new Lives({ pool, log, schema: "metrics", policyOf: () => ({}) });
  await followed.follow(new AbortController().signal);
  expect(reached()).toBe(50);
  expect(lives.size).toBe(50);
});
