import { encodeEvent } from "@trainyard/contracts";
import { type EventLog, newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { runtimeLimits } from "./limits.ts";
import { RunGrants } from "./run-grants.ts";
import { emptyMeta } from "./work/correlation.ts";

function stage(knownMax?: number) {
  const clock = new ManualClock();
  const store = createMemoryLog({ clock });
  const log = store.as("scheduler");
  let reads = 0;
  const counted = {
    readAll: (after: number, limit: number) => {
      reads += 1;
      return log.readAll(after, limit);
    },
  } as EventLog;
  const grants = new RunGrants(counted, clock, knownMax);
  const grant = async (allocation: string) => {
    const stream = `allocation-${allocation}`;
    const id = newEventId();
    const event = { id, ...encodeEvent({ type: "AllocationStarted", data: { starts: [] } }) };
    const expectedVersion = store.store.version(stream);
    const writes = [{ stream, expectedVersion, events: [event] }];
    await log.append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
    return { allocation, grantPosition: await log.head(), grantId: id };
  };
  return { clock, store: store.store, grants, grant, reads: () => reads };
}

test("a grant is held if the log has its event at its position, lost if it has another one, and not there yet if it ends before", async () => {
  const { grants, grant } = stage();
  const held = await grant("1.1#1");
  expect(await grants.stateOf(held)).toBe("held");
  expect(await grants.stateOf({ ...held, grantId: newEventId() })).toBe("lost");
  const ahead = { ...held, grantPosition: 2, grantId: newEventId() };
  expect(await grants.stateOf(ahead)).toBe("not_yet");
  await grant("1.2#1");
  expect(await grants.stateOf(ahead)).toBe("lost");
  await expect(grants.require(ahead)).rejects.toMatchObject({ status: 410, code: "history_lost" });
  const later = { ...ahead, grantPosition: 9 };
  await expect(grants.require(later)).rejects.toMatchObject({ status: 503, code: "unavailable" });
  await grants.require(held);
});

test("grants that the log has cost one look-up in a second, however many there are", async () => {
  const { clock, grants, grant, reads } = stage();
  const all = [await grant("1.1#1"), await grant("1.2#1"), await grant("1.3#1")];
  for (let round = 0; round < 3; round += 1) {
    for (const one of all) expect(await grants.stateOf(one)).toBe("held");
  }
  expect(reads()).toBe(3);
  await clock.advance(runtimeLimits.grantsConfirmedMs);
  await Promise.all(all.map((one) => grants.stateOf(one)));
  expect(reads()).toBe(4);
});

test("a log that went back and gave a run again makes the first one lost within a second", async () => {
  const { clock, store, grants, grant } = stage();
  const kept = await grant("1.1#1");
  const restore = store.backup();
  const lost = await grant("1.2#1");
  expect(await grants.stateOf(lost)).toBe("held");
  restore();
  const again = await grant("1.2#1");
  expect(again.grantPosition).toBe(lost.grantPosition);
  expect(await grants.stateOf(again)).toBe("held");
  await clock.advance(runtimeLimits.grantsConfirmedMs);
  expect(await grants.stateOf(lost)).toBe("lost");
  expect(await grants.stateOf(again)).toBe("held");
  expect(await grants.stateOf(kept)).toBe("held");
});

test("grants beyond the number that is kept are looked up again", async () => {
  const { grants, grant, reads } = stage(1);
  const [first, second] = [await grant("1.1#1"), await grant("1.2#1")];
  for (const one of [first, second, first]) expect(await grants.stateOf(one)).toBe("held");
  expect(reads()).toBe(3);
});
