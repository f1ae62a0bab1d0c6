/** Checks that the users' page of searchers names every searcher, every key, and every numeric default. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as values from "../parts/values.ts";
import { searchers } from "./searcher.ts";

const file = join(import.meta.dirname, "../../../../docs/howto/choose-a-searcher.md");
const page = readFileSync(file, "utf8");
const all = page.slice(page.indexOf("## The keys of each"));

/** Returns the keys in the searcher's table row, including those of a row that it refers to. */
function rowOf(name: string): string {
  const row = all.split("\n").find((line) => line.split("|")[1]?.includes(`\`${name}\``)) ?? "";
  const other = /as `(\w+)`/.exec(row)?.[1];
  return other === undefined ? row : `${row}${rowOf(other)}`;
}

test.each(Object.entries(searchers))("the page names the keys of %s", (name, module) => {
  const row = rowOf(name);
  const required: readonly string[] = module.required;
  for (const key of Object.keys(module.keys(values))) {
    expect(row, key).toContain(required.includes(key) ? `**\`${key}\`**` : `\`${key}\``);
  }
  for (const [key, value] of Object.entries(module.defaults)) {
    if (typeof value === "number")
      expect(row, key).toMatch(new RegExp(`\`${key}\` \\(${value}\\b`));
  }
});
