import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repositoryFiles } from "../../scripts/lib/repository-files.ts";
import { root } from "../../scripts/lib/root.ts";
import { houseRules } from "./house-rules.ts";
import { type Repository, repositoryOf, sourcesOf } from "./rule.ts";
import { eventProblems } from "./rules/events.ts";

const texts = new Map<string, string>();
const repository: Repository = {
  files: repositoryFiles(),
  read(path) {
    const text = texts.get(path) ?? readFileSync(join(root, path), "utf8");
    texts.set(path, text);
    return text;
  },
};

it("the rules see the files of the repository", () => {
  expect(sourcesOf(repository).length).toBeGreaterThan(100);
});

describe.each(houseRules)("$name", ({ check, violations, kept }) => {
  it("is kept by the repository", () => {
    expect(check(repository)).toEqual([]);
  });

  it.each(Object.keys(violations))("is broken by its example: %s", (what) => {
    expect(check(repositoryOf(violations[what] ?? {}))).not.toEqual([]);
  });

  it("accepts its example that keeps it", () => {
    expect(check(repositoryOf(kept))).toEqual([]);
  });
});

describe("an event", () => {
  const files = ["services/a/package.json", "test/compat/events/t.body"];

  it.each([
    ["without an owner", { type: "t", owner: "" }],
    ["owned by something else", { type: "t", owner: "b" }],
    ["without a fixture", { type: "u", owner: "a" }],
  ])("%s is reported", (_what, entry) => {
    expect(eventProblems({ files }, [entry], [])).toHaveLength(1);
  });

  it("of an old type also needs a fixture", () => {
    expect(eventProblems({ files }, [], ["t", "old"])).toHaveLength(1);
  });
});
