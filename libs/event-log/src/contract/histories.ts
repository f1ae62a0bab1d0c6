import { expect, it } from "vitest";
import { newEventId } from "../ids.ts";
import type { ContractHarness } from "./harness.ts";
import { committed, everything, requestOf, writeOf } from "./harness.ts";

const cursor = { consumer: "experiments", partition: 0, position: 1, part: 0 };
const rewound = { name: "Fault", code: "log_rewound", retry: "later" };

/**
 * A commit that depends on an event that the log lacks belongs to another history, even if its versions and epochs
 * match.
 */
export function historyContract(harness: ContractHarness): void {
  it("accepts a commit that depends on an event in the log", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    await committed(log, [writeOf("experiment-1", 0, 2)]);
    const [first, second] = await everything(log);
    const on = (event = second) => ({ position: event?.position ?? 0, id: event?.id ?? "" });
    await committed(log, [writeOf("experiment-1", 2)], { seen: on() });
    // The event need not be the last one.
    await committed(log, [writeOf("trial-1.1", 0)], { seen: on(first), cursor });
    await log.moveCursor({ ...cursor, position: 2 }, undefined, on());
    expect(await log.cursor("experiments", 0)).toEqual({ position: 2, part: 0 });
  });

  it("writes no events, parking or cursors that depend on an event that the log lacks", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    await committed(log, [writeOf("experiment-1", 0, 2)]);
    const [first] = await everything(log);
    const park = [{ position: 1, key: "experiment-1", reason: "no" }];
    for (const seen of [
      { position: 2, id: newEventId() },
      { position: 2, id: first?.id ?? "" },
      { position: 3, id: newEventId() },
      { position: 40_000_000, id: newEventId() },
    ]) {
      for (const request of [
        requestOf([writeOf("experiment-1", 2)], { seen }),
        requestOf([writeOf("experiment-1", 2)], { seen, cursor }),
        requestOf([], { seen, cursor }),
        requestOf([], { seen, cursor: { ...cursor, park } }),
      ]) {
        await expect(log.append(request)).rejects.toMatchObject(rewound);
      }
      await expect(log.moveCursor(cursor, undefined, seen)).rejects.toMatchObject({
        code: "log_rewound",
      });
    }
    expect(await log.head()).toBe(2);
    expect(await log.cursor("experiments", 0)).toEqual({ position: 0, part: 0 });
    expect(await log.parked()).toEqual([]);
  });

  it("writes the other commits of a batch in which one depends on an event that the log lacks", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    const lost = { position: 1, id: newEventId() };
    const results = await Promise.allSettled([
      log.append(requestOf([writeOf("experiment-1", 0)])),
      log.append(requestOf([writeOf("experiment-2", 0)], { seen: lost })),
      log.append(requestOf([writeOf("experiment-3", 0)])),
    ]);
    expect(results).toMatchObject([
      { status: "fulfilled", value: { kind: "committed" } },
      { status: "rejected", reason: rewound },
      { status: "fulfilled", value: { kind: "committed" } },
    ]);
    expect((await everything(log)).map(({ stream }) => stream)).toEqual([
      "experiment-1",
      "experiment-3",
    ]);
  });
}
