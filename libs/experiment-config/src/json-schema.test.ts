import { describe, expect, it } from "vitest";
import { isMapping, type Json, type JsonObject, pathOf } from "./json.ts";
import { exportJsonSchema } from "./json-schema.ts";
import { documentKeys } from "./experiment.ts";
import { keysAsWritten, pathsOfSecrets } from "./sections/as-written.ts";

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

  it("describes each key, except those that a warning describes and those of kinds that do not run", () => {
    const explained = new Map<string, boolean>();
    const { $defs, ...root } = schema;
    collect(root, "", explained);
    for (const [name, one] of Object.entries($defs as JsonObject)) {
      collect(one, `#${name}`, explained);
    }
    const unexplained = [...explained].filter(([, has]) => !has).map(([path]) => path);
    const asWritten = keysAsWritten.map(({ path }) => pathOf(path));
    const hasWarning = (path: string) =>
      asWritten.some((one) => path === one || path.startsWith(`${one}.`));
    const isRefused = (path: string) =>
      /^searcher\.(budget|train_stragglers)\b/.test(path) ||
      /_storage\.(access_key|secret_key|container|connection_string|account_url|credential)$/.test(
        path,
      );
    expect(unexplained.filter((path) => !hasWarning(path) && !isRefused(path))).toEqual(
      ["cpu", "cuda", "rocm", "gpu"].map((kind) => `environment.environment_variables.${kind}`),
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
    for (const path of [...keysAsWritten.map((key) => key.path), ...pathsOfSecrets]) {
      expect([path, hasProperty(schema, path)]).toEqual([path, true]);
    }
  });
});
