import { describe, expect, it } from "vitest";
import { isMapping, type Json, type JsonObject } from "./json.ts";
import { exportJsonSchema } from "./json-schema.ts";
import { descriptions } from "./descriptions.ts";
import { documentKeys } from "./experiment.ts";
import { pathsOfSecrets, pathsWithoutEffect } from "./sections/without-effect.ts";

/** Lists every reference in a schema. */
function references(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(references);
  if (!isMapping(value)) return [];
  const own = typeof value["$ref"] === "string" ? [value["$ref"]] : [];
  return [...own, ...Object.values(value).flatMap(references)];
}

/** Returns whether some alternative of the schema has a property at the path. */
function hasProperty(schema: Json | undefined, path: readonly string[]): boolean {
  if (schema === undefined || !isMapping(schema)) return false;
  const [key, ...rest] = path;
  if (key === undefined) return true;
  const own = (schema["properties"] ?? {}) as JsonObject;
  if (Object.hasOwn(own, key)) return hasProperty(own[key], rest);
  const variants = [schema["oneOf"], schema["anyOf"]].filter(Array.isArray).flat();
  return variants.some((variant) => hasProperty(variant, path));
}

/** Collects every key of a schema by its path, and whether it has a description. */
function collect(schema: Json | undefined, path: string, keys: Map<string, boolean>): void {
  if (schema === undefined || !isMapping(schema)) return;
  for (const [key, value] of Object.entries((schema["properties"] ?? {}) as JsonObject)) {
    const at = path === "" ? key : `${path}.${key}`;
    keys.set(at, isMapping(value) && typeof value["description"] === "string");
    collect(value, at, keys);
  }
  for (const variants of [schema["oneOf"], schema["anyOf"]].filter(Array.isArray)) {
    for (const variant of variants) collect(variant, path, keys);
  }
  collect(schema["items"], path, keys);
}

describe("exportJsonSchema", () => {
  const schema = exportJsonSchema();

  it("has every key of the document and refuses unknown keys", () => {
    expect(Object.keys(schema["properties"] as JsonObject).sort()).toEqual(
      [...documentKeys].sort(),
    );
    expect(schema["additionalProperties"]).toBe(false);
    expect(schema["required"]).toBe(undefined);
  });

  it("describes each key of the searchers, policies and hyperparameters, and most other keys", () => {
    const explained = new Map<string, boolean>();
    const { $defs, ...root } = schema;
    collect(root, "", explained);
    for (const [name, one] of Object.entries($defs as JsonObject)) {
      collect(one, `#${name}`, explained);
    }
    // Each description belongs to an existing key.
    for (const path of descriptions.keys())
      expect([path, explained.get(path)]).toEqual([path, true]);
    const unexplained = [...explained].filter(([, has]) => !has).map(([path]) => path);
    const isWithdrawn = (path: string) =>
      /^searcher\.(unit|max_length|budget|train_stragglers)\b/.test(path);
    expect(unexplained.filter((path) => /^(searcher|#)/.test(path) && !isWithdrawn(path))).toEqual(
      [],
    );
  });

  it("defines hyperparameters once, with references to the definition in nested places", () => {
    const { hyperparameter } = schema["$defs"] as JsonObject;
    expect(references(schema)).toContain("#/$defs/hyperparameter");
    expect(JSON.stringify(hyperparameter)).toContain('"categorical"');
    const known = Object.keys(schema["$defs"] as JsonObject).map((name) => `#/$defs/${name}`);
    expect(references(schema).filter((reference) => !known.includes(reference))).toEqual([]);
  });

  it("has each key that is accepted without effect, so that each warning can appear", () => {
    for (const path of [...pathsWithoutEffect, ...pathsOfSecrets]) {
      expect([path, hasProperty(schema, path)]).toEqual([path, true]);
    }
  });
});
