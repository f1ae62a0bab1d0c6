import { systemClock } from "@trainyard/kernel/system-clock";
import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { rateLimits } from "./limits.ts";
import { MemoryState } from "./memory-state.ts";
import { sharedStateContract } from "./shared-state-contract.ts";

sharedStateContract("the memory of one gateway", systemClock, async () => {
  const state = new MemoryState(systemClock);
  return [state, state];
});

test("the memory of one gateway keeps the bytes that were used last, within its limit", async () => {
  const state = new MemoryState(new ManualClock());
  const { keptBytesMax, keptOneBytesMax } = rateLimits;
  const count = 2 * Math.ceil(keptBytesMax / keptOneBytesMax);
  const used = await bytesKept(state, count);
  expect(used).toBeGreaterThan(0.8 * keptBytesMax);
  expect(used).toBeLessThanOrEqual(keptBytesMax);
  expect(await state.get("0")).not.toBeNull();
  expect(await state.get("1")).toBeNull();
});

/** Puts many answers, and uses the first one all the time. Returns the bytes that are still there. */
async function bytesKept(state: MemoryState, count: number): Promise<number> {
  const bytes = new Uint8Array(rateLimits.keptOneBytesMax);
  for (let n = 0; n < count; n += 1) {
    await state.put(String(n), bytes, 60_000);
    await state.get("0");
  }
  let used = 0;
  for (let n = 0; n < count; n += 1) used += (await state.get(String(n)))?.length ?? 0;
  return used;
}
