import { newEventId } from "@trainyard/event-log";
import { createMemoryLog, type MemoryLog } from "@trainyard/event-log/testing";
import { Fault } from "@trainyard/kernel";
import { beforeEach, expect, test } from "vitest";
import { LogRewound } from "../history/log-history.ts";
import { emptyMeta } from "../work/correlation.ts";
import { TermLog } from "./term-log.ts";

let log: MemoryLog;
let term: TermLog;

beforeEach(() => {
  log = createMemoryLog();
  term = new TermLog(log.as("experiments"));
});

function requestOf(stream: string) {
  const events = [{ id: newEventId(), type: "dev.trainyard.pool.PoolRemoved.v1", body: "{}" }];
  const writes = [{ stream, expectedVersion: log.store.version(stream), events }];
  return { commitId: newEventId(), writes, guards: [], meta: emptyMeta };
}

async function tell(...streams: readonly string[]): Promise<void> {
  for (const stream of streams) await log.as("others").append(requestOf(stream));
}

const move = { consumer: "experiments", partition: 0, position: 2, part: 0 };

/** Replaces the second event by another one. */
async function goBack(): Promise<void> {
  restore();
  await tell("pool-3");
}

let restore: () => void;

async function twoEvents(): Promise<void> {
  await tell("pool-1");
  restore = log.store.backup();
  await tell("pool-2");
}

test("a commit depends on the events that the term has read", async () => {
  await twoEvents();
  await term.read("pool-2", 0, 10);
  await goBack();
  await expect(term.append(requestOf("pool-9"))).rejects.toBeInstanceOf(LogRewound);
  expect(log.store.head).toBe(2);
});

test("a commit depends on the events that the term has written", async () => {
  await tell("pool-1");
  restore = log.store.backup();
  await term.append(requestOf("pool-2"));
  await goBack();
  await expect(term.append(requestOf("pool-9"))).rejects.toThrow(
    /^the log went back: event \S+ was read at position 2, and the log does not have it any more; /,
  );
  expect(log.store.head).toBe(2);
});

test("a lazy cursor move depends on the events that the term has read", async () => {
  await twoEvents();
  await term.readAll(0, 10);
  await goBack();
  await expect(term.moveCursor(move)).rejects.toBeInstanceOf(LogRewound);
  expect(log.store.cursor("experiments", 0)).toEqual({ position: 0, part: 0 });
});

test("a term that has seen no lost event continues to write", async () => {
  await twoEvents();
  await term.readAll(0, 1);
  await goBack();
  expect(await term.append(requestOf("pool-9"))).toMatchObject({ kind: "committed", position: 3 });
  await term.moveCursor(move);
  expect(log.store.cursor("experiments", 0)).toEqual({ position: 2, part: 0 });
});

test("a repeated commit does not record the event ids of its second attempt as seen", async () => {
  const first = requestOf("pool-1");
  await log.as("experiments").append(first);
  const again = { ...requestOf("pool-1"), commitId: first.commitId };
  expect(await term.append(again)).toMatchObject({ kind: "committed", repeated: true });
  expect(await term.append(requestOf("pool-2"))).toMatchObject({ kind: "committed" });
});

test("other faults of the log are thrown unchanged", async () => {
  const away = createMemoryLog({
    beforeCommit: () => {
      throw new Fault("log_away", "the log is away", { retry: "later" });
    },
  });
  term = new TermLog(away.as("experiments"));
  await expect(term.append(requestOf("pool-1"))).rejects.toMatchObject({ code: "log_away" });
});
