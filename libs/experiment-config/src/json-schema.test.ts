import { describe, expect, it } from "vitest";
import { isMapping, type Json, type JsonObject } from "./json.ts";
import { exportJsonSchema } from "./json-schema.ts";
import { documentKeys } from "./experiment.ts";
import { pathsOfSecrets, pathsWithoutEffect } from "./sections/without-effect.ts";

/** Every reference in a schema. */
function references(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(references);
  if (!isMapping(value)) return [];
  const own = typeof value["$ref"] === "string" ? [value["$ref"]] : [];
  return [...own, ...Object.values(value).flatMap(references)];
}

/** Whether some reading of the schema has a property at the way. */
function hasProperty(schema: Json | undefined, path: readonly string[]): boolean {
  if (schema === undefined || !isMapping(schema)) return false;
  const [key, ...rest] = path;
  if (key === undefined) return true;
  const own = (schema["properties"] ?? {}) as JsonObject;
  if (Object.hasOwn(own, key)) return hasProperty(own[key], rest);
  const variants = [schema["oneOf"], schema["anyOf"]].filter(Array.isArray).flat();
  return variants.some((variant) => hasProperty(variant, path));
}

describe("exportJsonSchema", () => {
  const schema = exportJsonSchema();

  it("has every key of the document and refuses others", () => {
    expect(Object.keys(schema["properties"] as JsonObject).sort()).toEqual(
      [...documentKeys].sort(),
    );
    expect(schema["additionalProperties"]).toBe(false);
    expect(schema["required"]).toBe(undefined);
  });

  it("describes hyperparameters once, and refers to that from within", () => {
    const { hyperparameter } = schema["$defs"] as JsonObject;
    expect(references(schema)).toContain("#/$defs/hyperparameter");
    expect(JSON.stringify(hyperparameter)).toContain('"categorical"');
    const known = Object.keys(schema["$defs"] as JsonObject).map((name) => `#/$defs/${name}`);
    expect(references(schema).filter((reference) => !known.includes(reference))).toEqual([]);
  });

  it("knows each key that is accepted without effect, so that each warning can be given", () => {
    for (const path of [...pathsWithoutEffect, ...pathsOfSecrets]) {
      expect([path, hasProperty(schema, path)]).toEqual([path, true]);
    }
  });
});
