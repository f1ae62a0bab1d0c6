import { Fault } from "@trainyard/kernel";
import { atRest, ManualClock } from "@trainyard/testing";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { EffectLoop } from "./effect-loop.ts";
import { LeaseLost } from "../work/executor.ts";

const logger = pino({ enabled: false });

describe("an effect", () => {
  test("runs once, again when woken, and again when its next deadline has passed", async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    let looks = 0;
    const loop = new EffectLoop("test", { clock, logger }, async () => {
      looks += 1;
      return 1_000;
    });
    const running = loop.run(stop.signal);
    await atRest();
    expect(looks).toBe(1);
    loop.wake();
    await atRest();
    expect(looks).toBe(2);
    await clock.advance(999);
    expect(looks).toBe(2);
    await clock.advance(1);
    expect(looks).toBe(3);
    stop.abort();
    await running;
  });

  test("runs again at once if it was woken while it ran", async () => {
    const stop = new AbortController();
    let looks = 0;
    const loop = new EffectLoop("test", { clock: new ManualClock(), logger }, async () => {
      looks += 1;
      if (looks === 1) loop.wake();
      else stop.abort();
      return null;
    });
    await loop.run(stop.signal);
    expect(looks).toBe(2);
  });

  test("retries after a fault, with growing waits", async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    let looks = 0;
    const loop = new EffectLoop("test", { clock, logger }, async () => {
      looks += 1;
      throw new Fault("disk_away", "the disk is away", { retry: "later" });
    });
    const running = loop.run(stop.signal);
    await atRest();
    expect(looks).toBe(1);
    await clock.advance(50);
    expect(looks).toBe(2);
    await clock.advance(50);
    expect(looks).toBe(2);
    await clock.advance(50);
    expect(looks).toBe(3);
    stop.abort();
    await running;
  });

  test("stops when its signal aborts", async () => {
    const loop = new EffectLoop("test", { clock: new ManualClock(), logger }, async () => {
      throw new LeaseLost("test/0");
    });
    await expect(loop.run(new AbortController().signal)).rejects.toThrow(LeaseLost);
  });
});
