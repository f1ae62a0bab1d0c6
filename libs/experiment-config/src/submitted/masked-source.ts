/**
 * A submission as it is kept: the YAML text with its comments and its form, without its secrets. A secret is replaced
 * where the parser found its text; what is left of it elsewhere, in a comment for example, is replaced as text.
 */
import { isScalar, parseDocument, stringify, visit } from "yaml";
import { readYaml } from "../document.ts";
import { isMapping, type Json, type JsonObject } from "../json.ts";
import { withOverrides } from "../overrides.ts";
import { type MaskedPath, maskedDocument, maskedValue } from "./secrets.ts";

/** Shorter secrets are replaced in values only: in other text they are likely to be something else. */
const shortestInText = 6;
/** A text with more secrets is kept without its comments: each of these is searched for in the whole text. */
const searchedInText = 256;

/** The document that a text and overrides make, before anything is filled in; null for what is no configuration. */
export function submittedDocument(text: string, overrides: readonly string[]): JsonObject | null {
  const { value } = readYaml(text);
  if (!isMapping(value)) return null;
  return withOverrides(value, overrides).document;
}

/** The YAML text without its secrets; empty for what is no mapping. */
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

/** Overrides without their secrets. */
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

/** Every scalar that masking has changed. */
function compare(before: Json, after: Json, changed: (from: Json, to: string) => void): void {
  if (Array.isArray(before) && Array.isArray(after)) {
    for (const [at, item] of before.entries()) compare(item, after[at] ?? null, changed);
  } else if (isMapping(before) && isMapping(after)) {
    for (const [key, item] of Object.entries(before)) compare(item, after[key] ?? null, changed);
  } else if (typeof after === "string" && before !== after) changed(before, after);
}

/** The part of a value that its mask stands for. */
function secretIn(before: string, after: string): string {
  const at = after.indexOf(maskedValue);
  const end = after.slice(at + maskedValue.length);
  return before.slice(at, before.length - end.length);
}

/** The text with other values in the places of some, wherever an anchor or an alias has put them. */
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

/** A masked YAML text with values in the places of its masks, each by the name that `maskedPaths` gives. */
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
