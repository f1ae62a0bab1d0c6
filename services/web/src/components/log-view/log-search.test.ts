import { describe, expect, it } from "vitest";
import { conditionsOf, logSearchOf, withoutConditions } from "./log-search.ts";

describe("the address of a log", () => {
  it("has the conditions, the line and the display options", () => {
    const search = {
      q: "nan",
      by: "regex",
      level: "error",
      rank: 0,
      line: 12,
      wrap: true,
    } as const;
    expect(logSearchOf({ ...search, tab: "logs" })).toEqual(search);
    expect(logSearchOf({ q: 25 })).toEqual({ q: "25" });
  });

  it("loses invalid values", () => {
    const wrong = {
      q: "",
      by: "sql",
      level: "ERROR",
      rank: -1,
      line: 1.5,
      run: "1",
      wrap: "yes",
      since: null,
    };
    expect(logSearchOf(wrong)).toEqual({});
  });

  it("becomes the server's query, without the line and the display options", () => {
    expect(
      conditionsOf({ q: "a b", by: "words", stream: "stderr", node: 1, since: 5, line: 3 }),
    ).toEqual({
      search: "a b",
      source: "stderr",
      nodeRank: 1,
      fromMs: 5,
    });
    expect(conditionsOf({ q: "x" })).toEqual({ contains: "x" });
    expect(
      conditionsOf({ q: "x+", by: "regex", rank: 2, run: 1, until: 9, level: "info" }),
    ).toEqual({
      matches: "x+",
      rank: 2,
      run: 1,
      untilMs: 9,
      level: "info",
    });
  });

  it("keeps the line and the display options when its conditions are removed", () => {
    expect(withoutConditions({ q: "x", level: "info", line: 3, to: 5, time: "received" })).toEqual({
      line: 3,
      to: 5,
      time: "received",
    });
  });
});
