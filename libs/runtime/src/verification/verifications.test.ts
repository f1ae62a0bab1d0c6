import { newEventId } from "@trainyard/event-log";
import { Fault } from "@trainyard/kernel";
import { ManualClock } from "@trainyard/testing";
import { pino } from "pino";
import { beforeEach, describe, expect, test } from "vitest";
import type { Check, Verdict } from "./check.ts";
import { runtimeLimits } from "../limits.ts";
import { Verifications } from "./verifications.ts";

const logger = pino({ enabled: false });
let clock: ManualClock;

beforeEach(() => {
  clock = new ManualClock();
});

/** A check that runs until the test provides its finding. */
function slow(name: string) {
  const { promise, resolve, reject } = Promise.withResolvers<Verdict>();
  const started = Promise.withResolvers<AbortSignal>();
  const check: Check = {
    name,
    run: (signal) => {
      started.resolve(signal);
      signal.addEventListener("abort", () => reject(new Error("nobody asks any more")));
      return promise;
    },
  };
  return { check, found: (finding: string) => resolve({ position: 5, finding }), started };
}

const holds: Check = { name: "a.first", run: async () => ({ position: 5, finding: "" }) };

describe("a verification", () => {
  test("answers in steps: known findings after a second, and the rest on the next call", async () => {
    const second = slow("a.second");
    await using verifications = new Verifications([holds, second.check], clock, logger);
    const id = newEventId();
    const step = verifications.step(id);
    await second.started.promise;
    await clock.advance(runtimeLimits.verifyStepMs);
    const first = { view: "a.first", position: 5, finding: "", unverified: false };
    expect(await step).toEqual({ done: false, views: [first] });
    second.found("a row differs");
    const rest = { view: "a.second", position: 5, finding: "a row differs", unverified: false };
    expect(await verifications.step(id)).toEqual({ done: true, views: [first, rest] });
    expect((await verifications.step(id)).done).toBe(true);
  });

  test("of a service without folds is complete at once", async () => {
    await using verifications = new Verifications([], clock, logger);
    expect(await verifications.step(newEventId())).toEqual({ done: true, views: [] });
  });

  test("reports a check that could not run, with the reason, and continues with the next one", async () => {
    const away: Check = {
      name: "a.away",
      run: async () => {
        throw new Fault("unverifiable", "it is being rebuilt", { retry: "later" });
      },
    };
    await using verifications = new Verifications([away, holds], clock, logger);
    expect((await verifications.step(newEventId())).views).toMatchObject([
      { view: "a.away", finding: "it is being rebuilt", unverified: true },
      { view: "a.first", unverified: false },
    ]);
  });

  test("is cancelled when no caller requests it any more", async () => {
    const { check, started } = slow("a.slow");
    await using verifications = new Verifications([check], clock, logger);
    const id = newEventId();
    const step = verifications.step(id);
    const signal = await started.promise;
    await clock.advance(runtimeLimits.verifyStepMs);
    await step;
    await clock.advance(runtimeLimits.verifyForgottenMs - 1);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(signal.aborted).toBe(true);
    // The cancelled verification's findings are dropped: it runs again.
    expect(await verifications.step(id)).toMatchObject({ views: [{ unverified: true }] });
  });

  test("waits for the previous verification", async () => {
    const { check, found, started } = slow("a.slow");
    await using verifications = new Verifications([check], clock, logger);
    const [one, other] = [newEventId(), newEventId()];
    const steps = [verifications.step(one), verifications.step(other)];
    await started.promise;
    await clock.advance(runtimeLimits.verifyStepMs);
    expect((await Promise.all(steps)).map(({ done }) => done)).toEqual([false, false]);
    found("");
    await verifications.step(one);
    expect(await verifications.step(other)).toMatchObject({ done: true, views: [{ position: 5 }] });
  });
});
