import { describe, expect, it } from "vitest";
import { trialSearchOf } from "./search.ts";

describe("the address of a trial's page", () => {
  it("has the tab and the tab's parameters", () => {
    const search = {
      tab: "logs",
      zoom: [1, 20.5],
      point: "2/0-7",
      checkpoint: "c",
      level: "error",
      line: 4,
    };
    expect(trialSearchOf(search)).toEqual(search);
  });

  it("loses invalid values, and the default tab", () => {
    expect(trialSearchOf({ tab: "overview", zoom: [3, 3], point: 7, other: "x" })).toEqual({});
    expect(trialSearchOf({ tab: "secrets", zoom: "1,2", checkpoint: null })).toEqual({});
  });
});
