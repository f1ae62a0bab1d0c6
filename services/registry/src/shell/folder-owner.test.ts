import { encodeEvent } from "@trainyard/contracts";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { emptyMeta, FoldCache } from "@trainyard/runtime";
import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { refusalOfFolder } from "./folder-owner.ts";

const writer = { checkpoint: "c", trial: "1.1", run: 1 };

/** Asks about the folder of a run whose nodes have these users. */
async function asked(
  users: readonly (number | undefined)[],
  ownerOf: () => Promise<number | null>,
) {
  const log = createMemoryLog({ clock: new ManualClock() }).as("scheduler");
  const starts = users.map((userId, nodeRank) => ({
    ...{ agent: "a", nodeRank, pid: 1 },
    ...(userId === undefined ? {} : { userId }),
  }));
  const started = encodeEvent({ type: "AllocationStarted", data: { starts } });
  const events = [{ id: newEventId(), ...started }];
  const writes = [{ stream: "allocation-1.1#1", expectedVersion: 0, events }];
  await log.append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
  const executor = { cache: new FoldCache(log) };
  const refusal = await refusalOfFolder({ executor, disk: { ownerOf } }, "/storage", writer);
  return refusal?.rejected ?? null;
}

test("a run may have a folder that its user owns, and none that another user owns", async () => {
  expect(await asked([1_001, 2_001], async () => 2_001)).toBeNull();
  expect(await asked([1_001], async () => 1_002)).toBe("not_your_folder");
});

test("no folder is compared without users of runs, or if this host does not see it", async () => {
  expect(await asked([undefined], async () => 1_002)).toBeNull();
  // While agents get users one after the other, the chief may still write as its agent.
  expect(await asked([undefined, 1_001], async () => 0)).toBeNull();
  expect(await asked([1_001], async () => null)).toBeNull();
});
