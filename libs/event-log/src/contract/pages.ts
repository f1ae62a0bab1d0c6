import { expect, it } from "vitest";
import { logLimits } from "../limits.ts";
import { isFullPage } from "../page-size.ts";
import type { EventLog, StoredEvent } from "../port.ts";
import type { ContractHarness } from "./harness.ts";
import { committed, eventOf, everything, writeOf } from "./harness.ts";

const { bodyBytesMax, pageBytesMax } = logLimits;
const limit = 100;
const stream = "trial-1.1";

/** All ways to read pages; each returns the page after an event, or the first page. */
const ways: Readonly<
  Record<string, (log: EventLog, after?: StoredEvent) => Promise<readonly StoredEvent[]>>
> = {
  readAll: (log, after) => log.readAll(after?.position ?? 0, limit),
  read: (log, after) => log.read(stream, after?.version ?? 0, limit),
  readAt: (log, after) =>
    log.readAt(Array.from({ length: limit }, (_, index) => (after?.position ?? 0) + index + 1)),
  async readSome(log, after) {
    const from = after?.position ?? 0;
    const { events, scannedTo } = await log.readSome(
      { names: [stream], beginnings: [] },
      from,
      limit,
    );
    const isFull = isFullPage(events, limit);
    expect(scannedTo).toBe(isFull ? events.at(-1)?.position : await log.head());
    return events;
  },
};

const sizeOf = (events: readonly StoredEvent[]): number =>
  events.reduce((bytes, { body }) => bytes + Buffer.byteLength(body), 0);

export function pageContract(harness: ContractHarness): void {
  for (const [way, read] of Object.entries(ways)) {
    it(`${way} ends a page by bytes, without a gap, and the last page is known as such`, async () => {
      await using subject = await harness.create();
      const log = subject.as("ty_experiments");
      const body = JSON.stringify("ü".repeat(bodyBytesMax / 2 - 50_000));
      for (let version = 0; version < 30; version += 10) {
        const events = Array.from({ length: 10 }, () => eventOf(body));
        await committed(log, [{ stream, expectedVersion: version, events }]);
      }
      await committed(log, [writeOf(stream, 30, 3)]);
      const all: StoredEvent[] = [];
      for (;;) {
        const page = await read(log, all.at(-1));
        all.push(...page);
        if (!isFullPage(page, limit)) break;
        expect(sizeOf(page)).toBeLessThanOrEqual(pageBytesMax);
        expect(sizeOf(page)).toBeGreaterThan(pageBytesMax - bodyBytesMax);
      }
      expect(all).toEqual(await everything(log));
      expect(all.map(({ position }) => position)).toEqual(all.map((_, index) => index + 1));
      expect(all.length).toBe(33);
    });
  }

  it("returns an event that is larger than a page alone", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    await committed(log, [writeOf(stream, 0, 3)]);
    const all = await everything(log);
    await subject.tamper.editBody(2, JSON.stringify("x".repeat(pageBytesMax)));
    for (const way of ["readAll", "read", "readAt"]) {
      const positions = async (after?: StoredEvent) =>
        (await ways[way]?.(log, after))?.map(({ position }) => position);
      expect(await positions()).toEqual([1]);
      expect(await positions(all[0])).toEqual([2]);
      expect(await positions(all[1])).toEqual([3]);
    }
  });

  it("has as many of the largest events in one page as fit into its bytes", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    const body = JSON.stringify("x".repeat(bodyBytesMax - 2));
    const count = pageBytesMax / bodyBytesMax;
    const events = Array.from({ length: count }, () => eventOf(body));
    await committed(log, [{ stream, expectedVersion: 0, events: events.slice(1) }]);
    await committed(log, [{ stream, expectedVersion: count - 1, events: events.slice(0, 1) }]);
    await committed(log, [writeOf(stream, count)]);
    expect((await log.readAll(0, limit)).length).toBe(count);
    expect((await log.read(stream, 0, limit)).length).toBe(count);
  });
}
