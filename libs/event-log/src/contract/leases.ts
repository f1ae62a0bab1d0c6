import { expect, it, vi } from "vitest";
import type { ContractHarness } from "./harness.ts";
import { committed, requestOf, writeOf } from "./harness.ts";

const lease = "experiments/0";
const longMs = 60_000;

export function leaseContract(harness: ContractHarness): void {
  it("grants a lease to one owner, renews it for that owner, and counts epochs", async () => {
    await using subject = await harness.create();
    const a = subject.as("ty_experiments");
    const b = subject.as("ty_experiments");
    const first = await a.acquireLease(lease, "a", longMs);
    expect(first).toMatchObject({ lease, owner: "a", epoch: 1 });
    expect(first?.remainingMs).toBeGreaterThan(longMs / 2);
    expect(await b.acquireLease(lease, "b", longMs)).toBeNull();
    expect(await a.acquireLease(lease, "a", longMs)).toMatchObject({ epoch: 1 });
    expect(await b.acquireLease("experiments/1", "b", longMs)).toMatchObject({ epoch: 1 });
    await b.releaseLease(lease, "b");
    expect(await b.acquireLease(lease, "b", longMs)).toBeNull();
    await a.releaseLease(lease, "a");
    expect(await b.acquireLease(lease, "b", longMs)).toMatchObject({ epoch: 2 });
    expect(await a.acquireLease(lease, "a", longMs)).toBeNull();
  });

  it("grants an expired lease to exactly one of many", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    await log.acquireLease(lease, "old", 50);
    const epoch = await vi.waitUntil(
      async () => {
        const asked = ["a", "b", "c"].map((owner) => log.acquireLease(lease, owner, longMs));
        const taken = (await Promise.all(asked)).filter((answer) => answer !== null);
        expect(taken.length).toBeLessThanOrEqual(1);
        return taken[0]?.epoch;
      },
      { timeout: 90_000, interval: 10 },
    );
    expect(epoch).toBe(2);
  });

  it("treats a lease that ends later than its holder could have requested as expired", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    await log.acquireLease(lease, "dead", longMs);
    // A request for a shorter lease by another owner does not make the current lease count as too long.
    expect(await log.acquireLease(lease, "b", 1_000)).toBeNull();
    // After this shift, the lease looks as if a clock ten minutes ahead had granted it.
    await subject.tamper.shiftLease(lease, 600_000);
    expect(await log.acquireLease(lease, "b", longMs)).toMatchObject({ owner: "b", epoch: 2 });
    expect(await log.acquireLease(lease, "dead", longMs)).toBeNull();
  });

  it("lets the holder of a lease with a future end renew it", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    await log.acquireLease(lease, "a", longMs);
    await subject.tamper.shiftLease(lease, 600_000);
    expect(await log.acquireLease(lease, "a", longMs)).toMatchObject({ epoch: 1 });
    expect(await log.acquireLease(lease, "b", longMs)).toBeNull();
  });

  it("says for how long the lease was not renewed, also after it was released", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    expect(await log.acquireLease(lease, "a", longMs)).toMatchObject({ idleMs: null });
    await subject.tamper.shiftLease(lease, -300_000);
    const after = await log.acquireLease(lease, "b", longMs);
    expect(after?.idleMs).toBeGreaterThanOrEqual(300_000);
    expect(after?.idleMs).toBeLessThan(360_000);
    await log.releaseLease(lease, "b");
    expect((await log.acquireLease(lease, "c", longMs))?.idleMs).toBeLessThan(60_000);
  });

  it("refuses events, parking and cursors under an epoch that is not current", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    const epoch = (await log.acquireLease(lease, "a", longMs))?.epoch ?? 0;
    const old = { lease, epoch, owner: "a" };
    await committed(log, [writeOf("experiment-1", 0)], { fence: old });
    await log.releaseLease(lease, "a");
    // The lease is released but not yet taken over: commits under it are still accepted.
    await committed(log, [writeOf("experiment-1", 1)], { fence: old });
    const next = await log.acquireLease(lease, "b", longMs);
    const cursor = { consumer: "experiments", partition: 0, position: 1, part: 0 };
    const stale = { kind: "stale_fence", lease, epoch };
    const write = writeOf("experiment-1", 2);
    expect(await log.append(requestOf([write], { fence: old }))).toEqual(stale);
    expect(await log.append(requestOf([write], { fence: old, cursor }))).toEqual(stale);
    expect(await log.append(requestOf([], { fence: old, cursor }))).toEqual(stale);
    await expect(log.moveCursor(cursor, old)).rejects.toMatchObject({ code: "stale_fence" });
    const unknown = { lease: "experiments/7", epoch: 1, owner: "a" };
    expect(await log.append(requestOf([write], { fence: unknown }))).toMatchObject({
      kind: "stale_fence",
    });
    const fence = { lease, epoch: next?.epoch ?? 0, owner: "b" };
    await log.moveCursor(cursor, fence);
    await committed(log, [write], { fence, cursor: { ...cursor, part: 1 } });
    expect(await log.cursor("experiments", 0)).toEqual({ position: 1, part: 1 });
  });

  it("refuses events, parking and cursors under the current epoch with another owner", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    await committed(log, [writeOf("experiment-1", 0)]);
    const epoch = (await log.acquireLease(lease, "a", longMs))?.epoch ?? 0;
    // The holder of this fence got its epoch from a log that has lost its last events since.
    const lost = { lease, epoch, owner: "b" };
    const cursor = { consumer: "experiments", partition: 0, position: 1, part: 0 };
    const park = [{ position: 1, key: "experiment-1", reason: "no" }];
    const write = writeOf("experiment-1", 1);
    for (const request of [
      requestOf([write], { fence: lost }),
      requestOf([write], { fence: lost, cursor }),
      requestOf([], { fence: lost, cursor: { ...cursor, park } }),
      requestOf([], { fence: lost, cursor }),
    ]) {
      expect(await log.append(request)).toEqual({ kind: "stale_fence", lease, epoch });
    }
    await expect(log.moveCursor(cursor, lost)).rejects.toMatchObject({ code: "stale_fence" });
    expect(await log.cursor("experiments", 0)).toEqual({ position: 0, part: 0 });
    expect(await log.parked()).toEqual([]);
    await committed(log, [write], { fence: { lease, epoch, owner: "a" }, cursor });
  });
}
