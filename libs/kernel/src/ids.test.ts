import { describe, expect, it } from "vitest";
import {
  categoryOf,
  idOf,
  isCheckpointId,
  isLabel,
  isName,
  isTaskId,
  parseRunId,
  parseTaskRunId,
  parseTrialId,
  runId,
  streamName,
  taskId,
  taskRunId,
  trialId,
} from "./ids.ts";

describe("ids", () => {
  it("are built from their parts and parsed into them", () => {
    expect(parseRunId(runId(trialId("12", 3), 2))).toEqual({
      trial: "12.3",
      experiment: "12",
      number: 3,
      run: 2,
    });
    expect(parseTrialId("12.3")).toEqual({ experiment: "12", number: 3 });
  });

  it.each(["", "12", "12.0", "0.1", "12.3.4", "012.3", "12.3#1", " 12.3", "12.-3"])(
    "%j is no trial id",
    (text) => {
      expect(parseTrialId(text)).toBeNull();
    },
  );

  it.each(["12.3", "12.3#0", "12.3#", "12#1", "12.3#1#2"])("%j is no run id", (text) => {
    expect(parseRunId(text)).toBeNull();
  });

  it("of tasks and their runs are no ids of trials and their runs", () => {
    expect(parseTaskRunId(taskRunId(taskId(12), 2))).toEqual({ task: "t12", run: 2 });
    expect(parseRunId("t12#2")).toBeNull();
    expect(parseTrialId("t12")).toBeNull();
    expect(parseTaskRunId("12.3#2")).toBeNull();
    expect(["t0", "t012", "t", "12", "t12.1", "T12"].filter(isTaskId)).toEqual([]);
  });

  it("name streams whose category ends at the first dash", () => {
    const stream = streamName("checkpoint", "0b8e4d0e-0000-4000-8000-000000000000");
    expect(categoryOf(stream)).toBe("checkpoint");
    expect(isCheckpointId(idOf(stream))).toBe(true);
  });

  it.each(["..", "a/b", "", "-a", "a b", "a*"])("%j is no agent name", (text) => {
    expect(isName(text)).toBe(false);
  });

  it.each([
    ["zone", true],
    ["example.com/rack-3_b", true],
    ["1", true],
    ["", false],
    ["a b", false],
    ["a=b", false],
    ["a,b", false],
    ["/a", false],
    ["a".repeat(64), false],
  ])("%j is a label: %s", (text, is) => {
    expect(isLabel(text)).toBe(is);
  });
});
