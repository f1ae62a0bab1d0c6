import { createMemoryLog, type MemoryLog } from "@trainyard/event-log/testing";
import { ManualClock } from "@trainyard/testing";
import { pino } from "pino";
import { beforeEach, expect, test } from "vitest";
import { runtimeLimits } from "../limits.ts";
import { LeaseHolder } from "./lease-holder.ts";

const { leaseTtlMs, leaseRenewMs } = runtimeLimits;

let clock: ManualClock;
let log: MemoryLog;
/** Delays the log's answer to a request for the lease. */
let answered: (ask: number) => Promise<void>;
let asks = 0;
let lostAtMs: number[] = [];
let epochs: number[] = [];
let owners: string[] = [];
/** Delays the release of the lease. */
let given: () => Promise<void>;
let stop: AbortController;
let logged: string[] = [];

beforeEach(() => {
  clock = new ManualClock();
  asks = 0;
  [lostAtMs, epochs, owners] = [[], [], []];
  given = async () => {};
  stop = new AbortController();
  logged = [];
  answered = async () => {};
  log = createMemoryLog({
    clock,
    beforeCall: async (method) => {
      if (method === "releaseLease") await given();
      if (method !== "acquireLease") return;
      asks += 1;
      await answered(asks);
    },
  });
});

type Line = { readonly msg: string };

/** Holds the lease until it is lost, and records the time of the loss. */
function hold(): Promise<void> {
  const stream = { write: (line: string) => void logged.push((JSON.parse(line) as Line).msg) };
  const logger = pino({}, stream);
  const holder = new LeaseHolder(log.as("one"), clock, logger, "one/0", "me");
  return holder.run(stop.signal, async ({ fence, owner, lost }) => {
    epochs.push(fence.epoch);
    owners.push(owner);
    await new Promise<void>((resolve) => {
      lost.addEventListener("abort", () => resolve(), { once: true });
      if (lost.aborted) resolve();
    });
    if (!stop.signal.aborted) lostAtMs.push(clock.monotonicMs());
  });
}

async function end(holding: Promise<void>): Promise<void> {
  stop.abort();
  await clock.advance(0);
  await holding;
}

test("a lease whose renewal gets no answer is lost at the end of its term, before the answer arrives", async () => {
  const late = Promise.withResolvers<void>();
  answered = (ask) => (ask === 3 ? late.promise : Promise.resolve());
  const holding = hold();
  await clock.advance(10 * leaseTtlMs);
  // The second request, one pause after the first, was the last one with an answer.
  expect(lostAtMs).toEqual([leaseRenewMs + leaseTtlMs]);
  late.resolve();
  await end(holding);
});

test("a lease with a late first answer expires as long after its request as one with a fast answer", async () => {
  const delayMs = leaseTtlMs - 500;
  const never = Promise.withResolvers<void>();
  answered = (ask) => {
    if (ask > 1) return never.promise;
    return new Promise((resolve) => void clock.timer(delayMs, resolve));
  };
  const holding = hold();
  await clock.advance(10 * leaseTtlMs);
  expect(lostAtMs).toEqual([leaseTtlMs]);
  never.resolve();
  await end(holding);
});

test("a lease that is renewed in time is kept, even if each answer takes a second", async () => {
  answered = () => new Promise((resolve) => void clock.timer(1_000, resolve));
  const holding = hold();
  await clock.advance(20 * leaseTtlMs);
  expect(lostAtMs).toEqual([]);
  stop.abort();
  await clock.advance(leaseTtlMs);
  await holding;
});

test("a term after an outage has a new epoch and owner, even if no other process held the lease meanwhile", async () => {
  const away = (): Promise<void> => {
    const isAway = clock.monotonicMs() > leaseRenewMs && clock.monotonicMs() < 30 * leaseTtlMs;
    return isAway ? Promise.reject(new Error("the log is away")) : Promise.resolve();
  };
  answered = away;
  given = away;
  const holding = hold();
  await clock.advance(40 * leaseTtlMs);
  expect(lostAtMs).toHaveLength(1);
  expect(epochs).toEqual([1, 2]);
  expect(new Set(owners).size).toBe(2);
  await end(holding);
});

test("an outage of the log is logged at its begin and then once in ten seconds, and the next one again", async () => {
  let away = true;
  answered = () => (away ? Promise.reject(new Error("no route")) : Promise.resolve());
  const holding = hold();
  await clock.advance(60_000);
  expect(asks).toBeGreaterThan(100);
  expect(logged).toEqual(Array.from({ length: 7 }, () => "lease_unreachable"));
  away = false;
  await clock.advance(leaseRenewMs);
  expect(logged.splice(0).slice(7)).toEqual(["lease_acquired"]);
  away = true;
  await clock.advance(leaseTtlMs);
  expect(logged).toContain("lease_lost");
  expect(logged.filter((message) => message === "lease_unreachable")).toHaveLength(1);
  await end(holding);
});
