/**
 * Documents as text and back. JSON has no NaN, no infinities and no negative zero, and a metric may be any of them:
 * such a number is the object `{"$double": "NaN"}`. A key of a user's that reads like the marker gets a `$` more at its
 * end, so that no user can write the marker. Rows from before that rule hold users' keys as they were: a marker that
 * names none of the four numbers is a user's, and is left as it is.
 */
import { isMapping, type JsonObject } from "@trainyard/kernel";

const marker = "$double";

const numbers: ReadonlyMap<unknown, number> = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
  ["-0", -0],
]);

/** The marker, and what its escaping may have made of it. */
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
  // A text of ours spells every marker with these characters; most documents have none.
  if (!text.includes(`"${marker}`)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown) => (isMapping(value) ? read(value) : value));
}

function read(value: JsonObject): unknown {
  const keys = Object.keys(value);
  if (!keys.some((key) => markerLike.test(key))) return value;
  const number = keys.length === 1 ? numbers.get(value[marker]) : undefined;
  return number ?? renamed(value, (key) => (key === marker ? key : key.slice(0, -1)));
}

/** Entries, not assignments: a key may be `__proto__`. */
function renamed(value: JsonObject, name: (key: string) => string): JsonObject {
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, member]) => [markerLike.test(key) ? name(key) : key, member]),
  );
}
