/** Agent and SDK deliver the same checkpoints, so they must agree on which refusals are final. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { finalCodes } from "./checkpoint-refusals.ts";

const repository = join(import.meta.dirname, "../../../..");

test("the SDK and the agent count the same refusals as final", () => {
  const path = join(repository, "libs/sdk-python/src/trainyard/_checkpoint/_refusals.py");
  const [, table = ""] =
    /^FINAL = frozenset\(\s*\{([^}]*)\}/m.exec(readFileSync(path, "utf8")) ?? [];
  const ofSdk = [...table.matchAll(/"([a-z_]+)"/g)].map(([, code = ""]) => code);
  expect(ofSdk.toSorted()).toEqual([...finalCodes].toSorted());
});

test("every final refusal is a code of the registry", () => {
  const registry = join(repository, "services/registry/src");
  const sources = readdirSync(registry, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((name) => readFileSync(join(registry, name), "utf8"));
  const told = new Set(
    sources.flatMap((text) =>
      [...text.matchAll(/reject\(\s*"([a-z_]+)"/g)].map(([, code = ""]) => code),
    ),
  );
  expect([...finalCodes].filter((code) => !told.has(code))).toEqual([]);
});
