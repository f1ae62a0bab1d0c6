/** The page that lists the searchers for users names each of them, each key, and each default that is a number. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as values from "../parts/values.ts";
import { searchers } from "./searcher.ts";

const file = join(import.meta.dirname, "../../../../docs/howto/choose-a-searcher.md");
const page = readFileSync(file, "utf8");
const all = page.slice(page.indexOf("## The keys of each"));

/** The keys of the searchers whose row begins with the name, "as another" included. */
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
