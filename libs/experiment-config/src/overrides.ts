/** Applies `--config a.b=value`, which replaces one value of the document as a whole. */
import type { FieldProblem } from "@trainyard/kernel";
import { readYaml } from "./document.ts";
import { isMapping, type Json, type JsonObject, keyPath, valueAt } from "./json.ts";

export function withOverrides(
  document: JsonObject,
  overrides: readonly string[],
): { readonly document: JsonObject; readonly problems: readonly FieldProblem[] } {
  let changed = document;
  const problems: FieldProblem[] = [];
  for (const override of overrides) {
    const result = withOverride(changed, override);
    if (Array.isArray(result)) problems.push(...result);
    else changed = result as JsonObject;
  }
  return { document: changed, problems };
}

function withOverride(document: JsonObject, override: string): JsonObject | FieldProblem[] {
  const sign = override.indexOf("=");
  const path = sign < 0 ? override : override.slice(0, sign);
  const keys = path.split(".");
  if (sign < 0 || keys.some((key) => key.trim() === "")) {
    const detail = `the override ${JSON.stringify(override)} must have the form path.to.key=value`;
    return [{ path, detail }];
  }
  if (keys.includes("__proto__")) return [{ path, detail: "is not allowed as a key" }];
  const read = readYaml(override.slice(sign + 1), path);
  if (read.problems.length > 0) return [...read.problems];
  return withValue(document, keys, read.value, "");
}

function withValue(
  mapping: JsonObject,
  [key = "", ...rest]: readonly string[],
  value: Json,
  parent: string,
): JsonObject | FieldProblem[] {
  if (rest.length === 0) return { ...mapping, [key]: value };
  const path = keyPath(parent, key);
  const inner = valueAt(mapping, key) ?? {};
  if (!isMapping(inner)) {
    const detail = `is not a mapping, so "${rest.join(".")}" in it cannot be overridden`;
    return [{ path, detail }];
  }
  const changed = withValue(inner, rest, value, path);
  return Array.isArray(changed) ? changed : { ...mapping, [key]: changed };
}
