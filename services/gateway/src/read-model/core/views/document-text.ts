/**
 * Converts documents to text and back. A metric may be NaN, infinite or negative zero, which JSON cannot store: such a
 * number is written as the object `{"$double": "NaN"}`. A user's key that looks like the marker gets one more `$` at
 * its end, so that no user can write the marker. Older rows have such keys unescaped: a marker without one of the four
 * numbers was written by a user and is kept.
 */
import { isMapping, type JsonObject } from "@trainyard/kernel";

const marker = "$double";

const numbers: ReadonlyMap<unknown, number> = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
  ["-0", -0],
]);

/** The marker and its escaped forms. */
const markerLike = /^\$double\$*$/;

export function textOfDocument(doc: unknown): string {
  return JSON.stringify(doc, (_key, value: unknown) => {
    if (typeof value === "number") return written(value);
    if (isMapping(value) && Object.keys(value).some((key) => markerLike.test(key))) {
      return renamed(value, (key) => `${key}$`);
    }
    return value;
  });
}

function written(value: number): unknown {
  if (Object.is(value, -0)) return { [marker]: "-0" };
  return Number.isFinite(value) ? value : { [marker]: String(value) };
}

export function documentOfText(text: string): unknown {
  // Every marker is written with `"$double`, which most documents do not contain.
  if (!text.includes(`"${marker}`)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown) => (isMapping(value) ? read(value) : value));
}

function read(value: JsonObject): unknown {
  const keys = Object.keys(value);
  if (!keys.some((key) => markerLike.test(key))) return value;
  const number = keys.length === 1 ? numbers.get(value[marker]) : undefined;
  return number ?? renamed(value, (key) => (key === marker ? key : key.slice(0, -1)));
}

/** Uses entries instead of assignments, because a key may be `__proto__`. */
function renamed(value: JsonObject, name: (key: string) => string): JsonObject {
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, member]) => [markerLike.test(key) ? name(key) : key, member]),
  );
}
