import { encodeEvent } from "@trainyard/contracts";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { emptyMeta, type Logger } from "@trainyard/runtime";
import { expect, test } from "vitest";
import { limits } from "../limits.ts";
import { ClusterFollower } from "./follower.ts";

function stage() {
  const memory = createMemoryLog();
  const { store } = memory;
  const log = memory.as("scheduler");
  const told: unknown[] = [];
  const logger = { error: (fields: unknown) => told.push(fields) } as unknown as Logger;
  const write = async (pool: string, count: number): Promise<void> => {
    const stream = `pool-${pool}`;
    const events = Array.from({ length: count }, () => ({
      id: newEventId(),
      ...encodeEvent({ type: "PoolRemoved", data: {} }),
    }));
    const writes = [{ stream, expectedVersion: store.version(stream), events }];
    await log.append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
  };
  const open = () => ClusterFollower.open(log, logger);
  return { store, told, write, open };
}

test("a saved cluster is the start of the next fold", async () => {
  const { store, told, write, open } = stage();
  await write("a", limits.snapshotPositions);
  await (await open()).saveWhenDue(0);
  expect(store.snapshots.size).toBe(1);
  await write("a", 3);
  expect((await open()).cluster.position).toBe(limits.snapshotPositions + 3);
  expect(told).toEqual([]);
});

test("a saved cluster of a log that went back is logged, and the fold starts again", async () => {
  const { store, told, write, open } = stage();
  await write("a", limits.snapshotPositions - 5);
  const restore = store.backup();
  await write("a", 5);
  const stale = await open();
  restore();
  // A process that has not noticed the rewind saves its cluster.
  await stale.saveWhenDue(0);
  const said = {
    position: limits.snapshotPositions,
    detail: expect.stringMatching(
      /^the saved fold of the cluster ends with an event that the log does not have at /,
    ),
  };
  expect((await open()).cluster.position).toBe(limits.snapshotPositions - 5);
  expect(told).toEqual([said]);
  // The saved cluster stays invalid once the log has reached the same position again.
  await write("b", 5);
  expect((await open()).cluster.position).toBe(limits.snapshotPositions);
  expect(told).toEqual([said, said]);
});

test("a fold of a log that went back is discarded, even once the log has reached the same position again", async () => {
  const { store, write, open } = stage();
  await write("a", 3);
  const restore = store.backup();
  await write("a", 2);
  const [early, late] = [await open(), await open()];
  restore();
  await expect(early.catchUp()).rejects.toMatchObject({ code: "log_rewound" });
  await write("b", 4);
  await expect(late.catchUp()).rejects.toMatchObject({ code: "log_rewound" });
});
