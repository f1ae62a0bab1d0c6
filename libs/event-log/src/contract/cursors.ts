import { expect, it } from "vitest";
import type { CursorMove, EventLog } from "../port.ts";
import type { ContractHarness } from "./harness.ts";
import { committed, requestOf, writeOf } from "./harness.ts";

const at = (position: number, part = 0, more: Partial<CursorMove> = {}): CursorMove => ({
  consumer: "searcher",
  partition: 0,
  position,
  part,
  ...more,
});

/** Creates a log with ten events of the experiments service, and returns the searcher's client. */
async function tenEvents(subject: { as(role: "ty_experiments" | "ty_searcher"): EventLog }) {
  await committed(subject.as("ty_experiments"), [writeOf("experiment-1", 0, 10)]);
  return subject.as("ty_searcher");
}

export function cursorContract(harness: ContractHarness): void {
  it("moves a cursor with the events it caused, part by part", async () => {
    await using subject = await harness.create();
    const log = await tenEvents(subject);
    expect(await log.cursor("searcher", 0)).toEqual({ position: 0, part: 0 });
    await committed(log, [writeOf("search-1", 0)], { cursor: at(3, 1) });
    await committed(log, [writeOf("search-1", 1)], { cursor: at(3, 2) });
    expect(await log.cursor("searcher", 0)).toEqual({ position: 3, part: 2 });
    await committed(log, [writeOf("search-1", 2)], { cursor: at(4) });
    expect(await log.cursor("searcher", 0)).toEqual({ position: 4, part: 0 });
  });

  it("refuses a cursor move that is not forward, and writes nothing of the commit", async () => {
    await using subject = await harness.create();
    const log = await tenEvents(subject);
    await committed(log, [writeOf("search-1", 0)], { cursor: at(5, 2) });
    for (const cursor of [at(5, 2), at(5, 1), at(4, 9)]) {
      const result = await log.append(requestOf([writeOf("search-1", 1)], { cursor }));
      expect(result).toEqual({ kind: "cursor_behind", position: 5, part: 2 });
    }
    expect(await log.head()).toBe(11);
  });

  it("checks the cursor moves of a batch one after the other", async () => {
    await using subject = await harness.create();
    const log = await tenEvents(subject);
    const results = await Promise.all([
      log.append(requestOf([writeOf("search-1", 0)], { cursor: at(1) })),
      log.append(requestOf([writeOf("search-2", 0)], { cursor: at(2, 1) })),
      log.append(requestOf([writeOf("search-3", 0)], { cursor: at(2) })),
      log.append(requestOf([writeOf("search-4", 0)], { cursor: at(3) })),
    ]);
    expect(results.map(({ kind }) => kind)).toEqual([
      "committed",
      "committed",
      "cursor_behind",
      "committed",
    ]);
    expect(await log.cursor("searcher", 0)).toEqual({ position: 3, part: 0 });
  });

  it("moves a cursor without events at no new position, and recognises the repeat", async () => {
    await using subject = await harness.create();
    const log = await tenEvents(subject);
    const request = requestOf([], { cursor: at(7) });
    const first = await log.append(request);
    expect(first).toEqual({ kind: "committed", position: 0, streams: [], repeated: false });
    expect(await log.append(request)).toEqual({ ...first, repeated: true });
    expect(await log.append(requestOf([], { cursor: at(6) }))).toEqual({
      kind: "cursor_behind",
      position: 7,
      part: 0,
    });
    expect(await log.head()).toBe(10);
    expect(await log.cursor("searcher", 0)).toEqual({ position: 7, part: 0 });
  });

  it("moves a cursor lazily only forward and never beyond the head", async () => {
    await using subject = await harness.create();
    const log = await tenEvents(subject);
    await log.moveCursor(at(4));
    await log.moveCursor(at(2));
    expect(await log.cursor("searcher", 0)).toEqual({ position: 4, part: 0 });
    await committed(log, [writeOf("search-1", 0)], { cursor: at(6) });
    await log.moveCursor(at(5));
    expect(await log.cursor("searcher", 0)).toEqual({ position: 6, part: 0 });
    await log.moveCursor(at(9));
    const late = await log.append(requestOf([writeOf("search-1", 1)], { cursor: at(8) }));
    expect(late).toEqual({ kind: "cursor_behind", position: 9, part: 0 });
    await expect(log.moveCursor(at(99))).rejects.toMatchObject({ code: "beyond_head" });
  });

  it("keeps the cursors of a consumer's partitions apart", async () => {
    await using subject = await harness.create();
    const log = await tenEvents(subject);
    await Promise.all(
      [0, 1, 2, 3].map(async (partition) => {
        for (let position = 1; position <= 4 + partition; position += 1) {
          const cursor = at(position, 0, { partition });
          if (position % 2 === 0) await log.moveCursor(cursor);
          else await committed(log, [writeOf(`search-${partition}${position}`, 0)], { cursor });
        }
      }),
    );
    const reached = await Promise.all([0, 1, 2, 3].map((p) => log.cursor("searcher", p)));
    expect(reached.map(({ position }) => position)).toEqual([4, 5, 6, 7]);
  });

  it("parks an event in the commit that moves the cursor past it, and unparks it in the retry's commit", async () => {
    await using subject = await harness.create();
    const log = await tenEvents(subject);
    const park = [{ position: 1, key: "experiment-1", reason: "cannot be decoded" }];
    const parking = requestOf([], { cursor: at(1, 0, { park }) });
    expect(await log.append(parking)).toMatchObject({ kind: "committed", position: 0 });
    expect(await log.append(parking)).toMatchObject({ kind: "committed", repeated: true });
    const behind = { position: 2, key: "experiment-1", reason: "x".repeat(9_000) };
    await committed(log, [writeOf("search-1", 0)], { cursor: at(2, 0, { park: [behind] }) });
    const rows = await subject.as("ty_reader").parked("searcher");
    expect(rows.map(({ position, key, partition }) => ({ position, key, partition }))).toEqual([
      { position: 1, key: "experiment-1", partition: 0 },
      { position: 2, key: "experiment-1", partition: 0 },
    ]);
    expect(rows[0]?.reason).toBe("cannot be decoded");
    expect(rows[0]?.parkedAtMs).toBeGreaterThan(0);
    expect(rows[1]?.reason.length).toBe(4_000);
    await committed(log, [writeOf("search-1", 1)], { cursor: at(2, 0, { unpark: [1] }) });
    expect((await log.parked()).map(({ position }) => position)).toEqual([2]);
    await committed(log, [], { cursor: at(1, 0, { unpark: [2] }) });
    expect(await log.parked()).toEqual([]);
    expect(await log.parked("experiments")).toEqual([]);
    expect(await log.cursor("searcher", 0)).toEqual({ position: 2, part: 0 });
  });

  it("keeps a parked event until the commit that unparks it is written", async () => {
    await using subject = await harness.create();
    const log = await tenEvents(subject);
    const park = [{ position: 1, key: "experiment-1", reason: "no" }];
    await committed(log, [], { cursor: at(1, 0, { park }) });
    const unpark = { cursor: at(1, 0, { unpark: [1] }) };
    const positions = async () => (await log.parked()).map(({ position }) => position);
    await committed(log, [writeOf("search-1", 0)]);
    expect(await positions()).toEqual([1]);
    const moved = await log.append(requestOf([writeOf("search-1", 0)], unpark));
    expect(moved.kind).toBe("conflict");
    expect(await positions()).toEqual([1]);
    const last = requestOf([writeOf("search-1", 1)], unpark);
    expect(await log.append(last)).toMatchObject({ kind: "committed", repeated: false });
    expect(await log.append(last)).toMatchObject({ kind: "committed", repeated: true });
    expect(await positions()).toEqual([]);
    expect(await log.cursor("searcher", 0)).toEqual({ position: 1, part: 0 });
  });

  it("replaces the row of a parked event in a commit that does not move the cursor", async () => {
    await using subject = await harness.create();
    const log = await tenEvents(subject);
    await committed(log, [], { cursor: at(5, 0, {}) });
    for (const reason of ["first", "second"]) {
      const park = [{ position: 3, key: "1", reason }];
      await committed(log, [], { cursor: at(0, 0, { park, unpark: [3] }) });
      expect(await log.parked("searcher")).toMatchObject([{ position: 3, key: "1", reason }]);
    }
    expect(await log.cursor("searcher", 0)).toEqual({ position: 5, part: 0 });
  });

  it("parks no event when the commit is refused", async () => {
    await using subject = await harness.create();
    const log = await tenEvents(subject);
    const park = [{ position: 3, key: "experiment-1", reason: "no" }];
    const request = requestOf([writeOf("search-1", 5)], { cursor: at(3, 0, { park }) });
    expect((await log.append(request)).kind).toBe("conflict");
    expect(await log.parked()).toEqual([]);
    expect(await log.cursor("searcher", 0)).toEqual({ position: 0, part: 0 });
  });
}
