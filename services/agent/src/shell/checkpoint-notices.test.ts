import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { limits } from "../limits.ts";
import type { RunFolder } from "../state/run-folder.ts";
import type { Telemetry } from "../telemetry.ts";
import { CheckpointNotices } from "./checkpoint-notices.ts";

function stage() {
  const warned: string[] = [];
  const events = {
    checkpointsWait: (_allocation: string, why: string, again: boolean) => {
      if (!again) warned.push(why);
    },
  } as Partial<Telemetry> as Telemetry;
  const folder = { launch: { allocation: "1.1#1" } } as Partial<RunFolder> as RunFolder;
  const notices = new CheckpointNotices({ folder, events, clock: new ManualClock(), tell() {} });
  const waits = (why: string) =>
    notices.waits({ kind: "later", alone: false, retryAfterMs: 0, why }, []);
  return { warned, notices, waits };
}

test("a wait is logged once for each reason, and again after a delivery", () => {
  const { warned, notices, waits } = stage();
  for (const why of ["fetch failed", "fetch failed", "no such storage", "fetch failed"]) waits(why);
  expect(warned).toEqual(["fetch failed", "no such storage"]);
  notices.progressed();
  waits("fetch failed");
  expect(warned).toHaveLength(3);
});

test("a wait whose reason always differs is logged a few times", () => {
  const { warned, waits } = stage();
  for (let seconds = 0; seconds < 100; seconds += 1) waits(`away for ${seconds} s`);
  expect(warned).toHaveLength(limits.waitReasonsSaidMax);
});
