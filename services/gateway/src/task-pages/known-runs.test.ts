import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { KnownRuns } from "./known-runs.ts";
import { taskPageLimits } from "./limits.ts";
import type { TaskCaller } from "./task-callers.ts";

const address = { kind: "task", task: "t12", port: 0, host: "t12.localhost" } as never;
const caller = (digest: string): TaskCaller => ({ caller: {} as never, digest });

function stage() {
  const clock = new ManualClock();
  let run = 0;
  const serving = async () => ({
    allocation: `t12#${(run += 1)}`,
    target: { kind: "page" } as const,
    secret: "s",
  });
  const runs = new KnownRuns(serving, clock);
  return {
    clock,
    runs,
    of: async (digest: string) => (await runs.of(address, caller(digest))).allocation,
  };
}

test("requests of a session look for their run once a second, and those of another session by themselves", async () => {
  const { clock, of } = stage();
  expect([await of("a"), await of("a"), await of("b")]).toEqual(["t12#1", "t12#1", "t12#2"]);
  await clock.advance(taskPageLimits.freshMs);
  expect(await of("a")).toBe("t12#3");
});

test("after a run that did not answer, the next request looks for its run again", async () => {
  const { runs, of } = stage();
  expect(await of("a")).toBe("t12#1");
  runs.forget("a");
  expect(await of("a")).toBe("t12#2");
});
