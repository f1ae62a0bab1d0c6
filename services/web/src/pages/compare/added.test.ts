import { expect, test } from "vitest";
import { readAdded } from "./added.ts";

test("ids of experiments and trials are sources, and any other text is a filter", () => {
  expect(readAdded("12, 13.1-3 14.best5", "best")).toEqual({
    kind: "sources",
    sources: ["12.best", "13.1-3", "14.best5"],
  });
  expect(readAdded("12", "all")).toEqual({ kind: "sources", sources: ["12.all"] });
  for (const filter of ["label = baseline", "resnet 12", "id > 12", "12.first"]) {
    expect(readAdded(` ${filter} `, "best")).toEqual({ kind: "filter", filter });
  }
});
