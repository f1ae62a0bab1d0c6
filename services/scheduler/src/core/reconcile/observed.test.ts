import { AllocationReportState } from "@trainyard/contracts/agent";
import { describe, expect, test } from "vitest";
import { agentStart } from "../../testing/examples.ts";
import { Observed } from "./observed.ts";

/** A report of one of the starts of an agent in its folder: "one" and later ones. */
function report(incarnation: "one" | "two" | "three", sequence: number) {
  return {
    ...agentStart,
    startedMs: ["one", "two", "three"].indexOf(incarnation),
    highestEpoch: 1,
    diskFreeBytes: 1e12,
    notices: [],
    agent: "a1",
    incarnation,
    sequence,
    epoch: 1,
    version: 1,
    probe: 0,
    pool: "default",
    slots: [],
    labels: {},
    agentVersion: "1",
    address: "h",
    allocations: [],
  };
}

describe("a report", () => {
  test("counts if it is newer within its start", () => {
    const observed = new Observed(1);
    expect(observed.record(report("one", 2), 0)).toBe(true);
    expect(observed.record(report("one", 2), 1)).toBe(false);
    expect(observed.record(report("one", 1), 2)).toBe(false);
    expect(observed.record(report("one", 3), 3)).toBe(true);
  });

  test("that belongs to an earlier start and arrives late does not count", () => {
    const observed = new Observed(1);
    observed.record(report("one", 9), 0);
    expect(observed.record(report("two", 1), 100)).toBe(true);
    expect(observed.record(report("one", 10), 200)).toBe(false);
    expect(observed.agent("a1")?.report.incarnation).toBe("two");
  });

  test("of the first of two quick starts does not silence the second when it arrives last", () => {
    const observed = new Observed(1);
    observed.record(report("one", 9), 0);
    observed.record(report("three", 1), 100);
    observed.record(report("two", 1), 200);
    expect(observed.record(report("three", 2), 1_100)).toBe(true);
    expect(observed.agent("a1")?.report.incarnation).toBe("three");
  });
});

test("a run that an agent no longer names and that is not wanted is forgotten", () => {
  const observed = new Observed(1);
  const held = {
    state: AllocationReportState.ENDED,
    nodeRank: 0,
    slots: [],
    pid: 1,
    launchFailed: false,
    killed: false,
  };
  const allocations = ["1.1#1", "1.2#1"].map((allocation) => ({
    ...held,
    allocation,
    requestId: "r",
  }));
  observed.record({ ...report("one", 1), allocations }, 0);
  for (const { allocation } of allocations) observed.asked("a1").knownSince.set(allocation, 1);
  observed.prune(() => false);
  expect(observed.hasNamed("a1", "1.1#1")).toBe(true);
  observed.record(report("one", 2), 1);
  observed.prune((_agent, id) => id === "1.2#1");
  expect(observed.hasNamed("a1", "1.1#1")).toBe(false);
  expect(observed.hasNamed("a1", "1.2#1")).toBe(true);
  expect([...observed.asked("a1").knownSince.keys()]).toEqual(["1.2#1"]);
});
