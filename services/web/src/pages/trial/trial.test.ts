import { describe, expect, it } from "vitest";
import { groupsOf, lineHref, runStarts } from "./trial.ts";

describe("the runs of a trial", () => {
  it("begin at the step of their checkpoint, or at 0", () => {
    const runs = [
      { number: 1, fromCheckpoint: "" },
      { number: 2, fromCheckpoint: "c" },
      { number: 3, fromCheckpoint: "" },
    ];
    expect(runStarts(runs, new Map([["c", 30]]))).toEqual([
      { run: 2, step: 30 },
      { run: 3, step: 0 },
    ]);
  });
});

describe("the address of a line", () => {
  it("is the log of its trial", () => {
    expect(lineHref("12.3", "45")).toBe("/trials/12.3?tab=logs&line=45");
  });
});

describe("the curves of a trial", () => {
  it("are the scalars by group: validation first, and in it the metric of the search", () => {
    const of = (group: string, name: string, kind = "scalar") => ({ group, name, kind });
    const names = [
      of("training", "grad"),
      of("training", "loss"),
      of("validation", "accuracy"),
      of("validation", "loss"),
      of("validation", "matrix", "json"),
    ];
    expect(groupsOf(names, "loss")).toEqual([
      ["validation", ["loss", "accuracy"]],
      ["training", ["loss", "grad"]],
    ]);
    expect(groupsOf([], "loss")).toEqual([]);
  });

  it("leave out positions, which are straight lines", () => {
    const of = (group: string, name: string) => ({ group, name, kind: "scalar" });
    const names = ["batches", "epochs", "loss"].flatMap((name) => [
      of("training", name),
      of("validation", name),
    ]);
    expect(groupsOf([...names, of("progress", "progress")], "loss")).toEqual([
      ["validation", ["loss"]],
      ["training", ["loss"]],
    ]);
  });
});
