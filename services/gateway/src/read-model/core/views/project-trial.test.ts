import type { AnyEvent } from "@trainyard/contracts";
import { Fault, RunEndWhy, WaitCode } from "@trainyard/contracts/events";
import { expect, test } from "vitest";
import { requested, trialCreated } from "../../../testing/example-events.ts";
import { DocumentSet } from "./documents.ts";
import { project } from "./project.ts";

function runsAfter(...events: readonly (readonly [string, AnyEvent])[]) {
  const documents = new DocumentSet();
  project({ stream: "trial-1.1", timeMs: 0, position: 1 }, trialCreated(1), documents);
  project({ stream: "trial-1.1", timeMs: 0, position: 1 }, requested(1, 0), documents);
  for (const [stream, event] of events)
    project({ stream, timeMs: 0, position: 1 }, event, documents);
  return documents.get("trial", "1.1")?.runs;
}

function runAfter(...events: readonly (readonly [string, AnyEvent])[]) {
  return runsAfter(...events)?.[0];
}

function waits(code: WaitCode, detail: string, limit?: string): readonly [string, AnyEvent] {
  const data = limit === undefined ? { code, detail } : { code, detail, limit };
  return ["allocation-1.1#1", { type: "WaitExplained", data }];
}

test("a waiting run has the sentence, the code and the limit of its latest wait reason", () => {
  expect(runAfter(waits(WaitCode.QUOTA, "16 of 16 slots", "research"))).toMatchObject({
    waitsFor: "16 of 16 slots",
    waitCode: "quota",
    waitLimit: "research",
  });
  const later = waits(WaitCode.NOT_ENOUGH_FREE_SLOTS, "it needs 2 slots");
  expect(runAfter(waits(WaitCode.QUOTA, "x", "research"), later)).toMatchObject({
    waitsFor: "it needs 2 slots",
    waitCode: "not_enough_free",
    waitLimit: "",
  });
  expect(runAfter(waits(99 as WaitCode, "of a later version"))).toMatchObject({
    waitsFor: "of a later version",
    waitCode: "",
  });
});

test("a run after a failed one says until when it is delayed, and after how many failures", () => {
  const { data } = requested(2, 0);
  const why = { why: RunEndWhy.LOST, exits: [], message: "", countsAsRestart: false };
  const ended: AnyEvent = {
    type: "RunEnded",
    data: { run: 1, ...why, fault: Fault.HOST, triesInRow: 3 },
  };
  const runs = runsAfter(
    ["trial-1.1", ended],
    ["trial-1.1", { type: "RunRequested", data: { ...data, delayMs: 4_000 } }],
  );
  expect(runs).toMatchObject([
    { fault: "host", triesInRow: 3 },
    {
      waitsFor:
        "a delay until 1970-01-01T00:00:04.000Z after 3 failures in a row (cause of the latest: host)",
      waitCode: "delayed",
    },
  ]);
});

test("a placed run has no wait reason", () => {
  const placements = [{ agent: "rack", nodeRank: 0, slots: ["0"], address: "" }];
  const data = { placements, masterAddress: "", masterPort: 1, tokenKey: "k1", folded: 0 };
  const granted: AnyEvent = { type: "AllocationGranted", data };
  const run = runAfter(waits(WaitCode.QUOTA, "x", "research"), ["allocation-1.1#1", granted]);
  expect(run).toMatchObject({ state: "STARTING", waitsFor: "", waitCode: "", waitLimit: "" });
});

test("a placed run has the addresses of its hosts", () => {
  const at = (agent: string, nodeRank: number, address: string) => ({
    agent,
    nodeRank,
    slots: ["0"],
    address,
  });
  const placements = [at("a", 0, "10.0.0.7"), at("b", 1, "")];
  const data = { placements, masterAddress: "", masterPort: 1, tokenKey: "k1", folded: 0 };
  const run = runAfter(["allocation-1.1#1", { type: "AllocationGranted", data }]);
  expect(run?.placements).toEqual([
    { agent: "a", nodeRank: 0, slots: ["0"], address: "10.0.0.7" },
    { agent: "b", nodeRank: 1, slots: ["0"] },
  ]);
});
