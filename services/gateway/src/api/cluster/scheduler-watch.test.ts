import { createMemoryBus } from "@trainyard/bus/testing";
import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { apiLimits } from "../limits.ts";
import { SchedulerWatch } from "./scheduler-watch.ts";

const { schedulerAnswersMs, schedulerTrustedMs } = apiLimits;
const ok = { kind: "ok", body: new TextEncoder().encode("{}") } as const;

function stage() {
  const clock = new ManualClock();
  const hub = createMemoryBus({ clock });
  const watch = new SchedulerWatch({ bus: hub.connect("gateway"), clock });
  const serve = (GetPoolCapacity: () => Promise<typeof ok>) =>
    hub.connect("scheduler").serve("scheduler", { GetPoolCapacity });
  return { clock, watch, serve };
}

test("states have no age while the scheduler answers, and the time of its last answer while it does not", async () => {
  const { clock, watch, serve } = stage();
  expect(await watch.age()).toEqual({ schedulerAnsweredAtMs: 0 });
  let asked = 0;
  const serving = await serve(async () => {
    asked += 1;
    return ok;
  });
  clock.skip(schedulerTrustedMs + 1);
  const answeredAtMs = clock.nowMs();
  expect(await Promise.all([watch.age(), watch.age()])).toEqual([{}, {}]);
  expect(asked).toBe(1);
  await serving[Symbol.asyncDispose]();
  expect(await watch.age()).toEqual({});
  clock.skip(schedulerTrustedMs + 1);
  expect(await watch.age()).toEqual({ schedulerAnsweredAtMs: answeredAtMs });
});

test("a scheduler that hangs delays a list by a second, once in a while", async () => {
  const { clock, watch, serve } = stage();
  await using _serving = await serve(() => new Promise<typeof ok>(() => {}));
  const first = watch.age();
  await clock.advance(schedulerAnswersMs);
  expect(await first).toEqual({ schedulerAnsweredAtMs: 0 });
  expect(await watch.age()).toEqual({ schedulerAnsweredAtMs: 0 });
});
