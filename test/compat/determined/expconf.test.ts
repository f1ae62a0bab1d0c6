import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readCases, runCases } from "./case-file.ts";

describe("the configuration of Determined", () => {
  const { outcomes, unknown } = runCases(
    readCases(join(import.meta.dirname, "expconf-cases.json")),
  );

  it("is completely known here", () => {
    expect(unknown).toEqual([]);
    expect(outcomes).toHaveLength(74);
  });

  it.each(outcomes.map(({ id, difference }) => [id, difference] as const))("%s", (_, found) => {
    expect(found).toBe(null);
  });
});

describe("a file of cases", () => {
  it("names the place where a value is not the expected one", () => {
    const { outcomes } = runCases({
      cases: [
        {
          id: "a",
          case: { webhook_id: [1] },
          default_as: "x/webhooks.json",
          defaulted: { webhook_id: [1], exclude: true },
        },
        { id: "b", case: {}, sane_as: ["x/webhooks.json"], webhook: null },
        { id: "c", case: { webhook_id: 1 }, sane_as: ["x/webhooks.json"] },
        { id: "d", case: {}, sanity_errors: { "x/webhooks.json": ["no"] } },
        { id: "e", case: {}, sane_as: ["x/nothing.json"] },
        { id: "f", case: {} },
      ],
    });
    expect(outcomes.map(({ difference }) => difference)).toEqual([
      "with defaults: exclude is false, expected true",
      null,
      "sanity of webhooks: expected to be accepted; webhook_id must be a list, not 1",
      "sanity of webhooks: expected to be refused (no) and is accepted",
      "threw the configuration has no part called nothing",
      "it asks nothing that is known",
    ]);
  });

  it("runs the sections that it knows, and counts the others", () => {
    const { outcomes, unknown } = runCases({
      meta: { source: "here" },
      searcher: {
        grid_size: [{ id: "g", hyperparameters: { a: 1 }, expect_count: 1 }],
        telepathy: [{ id: "t" }, { id: "u" }],
      },
    });
    expect(outcomes).toEqual([{ section: "searcher.grid_size", id: "g", difference: null }]);
    expect(unknown).toEqual([{ section: "searcher.telepathy", cases: 2 }]);
  });
});
