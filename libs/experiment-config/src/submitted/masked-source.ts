/**
 * The stored submission: the YAML text with its comments and formatting, without its secrets. A secret is replaced
 * where the parser found it; other occurrences, for example in a comment, are replaced by a text search.
 */
import { isScalar, parseDocument, stringify, visit } from "yaml";
import { readYaml } from "../document.ts";
import { isMapping, type Json, type JsonObject } from "../json.ts";
import { withOverrides } from "../overrides.ts";
import { type MaskedPath, maskedDocument, maskedValue } from "./secrets.ts";

/** Shorter secrets are replaced only in values: elsewhere in the text they probably mean something else. */
const shortestInText = 6;
/** A text with more secrets is stored without its comments, because the whole text is searched for each secret. */
const searchedInText = 256;

/** Returns the document of a text and its overrides, before defaults are filled in; null if it is no mapping. */
export function submittedDocument(text: string, overrides: readonly string[]): JsonObject | null {
  const { value } = readYaml(text);
  if (!isMapping(value)) return null;
  return withOverrides(value, overrides).document;
}

/** Returns the YAML text without its secrets; empty if it is no mapping. */
export function maskedSource(text: string): string {
  const { value } = readYaml(text);
  if (!isMapping(value)) return "";
  const replaced = new Map<Json, string>();
  const secrets: string[] = [];
  const masked = maskedDocument(value);
  compare(value, masked, (before, after) => {
    replaced.set(before, after);
    secrets.push(secretIn(String(before), after));
  });
  if (replaced.size === 0) return text;
  if (secrets.length > searchedInText) return stringify(masked);
  let rest = withoutValues(text, replaced);
  const told = secrets.filter((secret) => secret.length >= shortestInText);
  for (const secret of told.toSorted((a, b) => b.length - a.length)) {
    rest = rest.replaceAll(secret, maskedValue);
  }
  return rest;
}

/** Returns the overrides without their secrets. */
export function maskedOverrides(overrides: readonly string[]): readonly string[] {
  return overrides.map((override) => {
    const document = withOverrides({}, [override]).document;
    const hidden = maskedDocument(document);
    if (JSON.stringify(hidden) === JSON.stringify(document)) return override;
    const path = override.slice(0, override.indexOf("="));
    let value: Json = hidden;
    for (const key of path.split(".")) value = isMapping(value) ? (value[key] ?? null) : null;
    return `${path}=${JSON.stringify(value)}`;
  });
}

/** Calls `changed` for every scalar that masking has changed. */
function compare(before: Json, after: Json, changed: (from: Json, to: string) => void): void {
  if (Array.isArray(before) && Array.isArray(after)) {
    for (const [at, item] of before.entries()) compare(item, after[at] ?? null, changed);
  } else if (isMapping(before) && isMapping(after)) {
    for (const [key, item] of Object.entries(before)) compare(item, after[key] ?? null, changed);
  } else if (typeof after === "string" && before !== after) changed(before, after);
}

/** Returns the part of a value that its mask replaced. */
function secretIn(before: string, after: string): string {
  const at = after.indexOf(maskedValue);
  const end = after.slice(at + maskedValue.length);
  return before.slice(at, before.length - end.length);
}

/** Replaces values in the text, including those that anchors and aliases insert. */
function withoutValues(text: string, replaced: ReadonlyMap<Json, string>): string {
  const places: { readonly from: number; readonly to: number; readonly text: string }[] = [];
  visit(parseDocument(text, { version: "1.2", stringKeys: true, uniqueKeys: false }), {
    Scalar(key, node) {
      const value = node.value as Json;
      const other = replaced.get(value);
      if (key === "key" || other === undefined || !isScalar(node) || !node.range) return;
      const [from, to] = node.range;
      const isBlock = node.type === "BLOCK_LITERAL" || node.type === "BLOCK_FOLDED";
      places.push({ from, to, text: JSON.stringify(other) + (isBlock ? "\n" : "") });
    },
  });
  return places
    .toSorted((a, b) => b.from - a.from)
    .reduce((rest, place) => rest.slice(0, place.from) + place.text + rest.slice(place.to), text);
}

/** Replaces each mask in a masked YAML text by the value for its name from `maskedPaths`. */
export function withMaskedValues(
  text: string,
  masked: readonly MaskedPath[],
  valueOf: (name: string) => string,
): string {
  const document = parseDocument(text, { version: "1.2", stringKeys: true });
  for (const { keys, value, name } of masked) {
    document.setIn(keys, value.split(maskedValue).join(valueOf(name)));
  }
  return document.toString({ lineWidth: 0 });
}
