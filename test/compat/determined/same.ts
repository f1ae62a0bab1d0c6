import { isMapping } from "@trainyard/kernel";

/**
 * The first place where a value differs from the expected one, in which `"*"` matches any value but null, and null
 * matches an absent one.
 */
export function difference(actual: unknown, expected: unknown, path = ""): string | null {
  if (expected === "*") return (actual ?? null) === null ? say(path, actual, "anything") : null;
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return say(path, actual, expected);
    if (actual.length !== expected.length) return say(path, actual, expected);
    return first(expected.keys(), (i) => difference(actual[i], expected[i], `${path}[${i}]`));
  }
  if (isMapping(expected)) {
    if (!isMapping(actual)) return say(path, actual, expected);
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return first(keys, (key) =>
      difference(actual[key], expected[key], path === "" ? key : `${path}.${key}`),
    );
  }
  const same = Object.is(actual ?? null, expected ?? null) || (actual === 0 && expected === 0);
  return same ? null : say(path, actual, expected);
}

function first<Key>(keys: Iterable<Key>, look: (key: Key) => string | null): string | null {
  for (const key of keys) {
    const found = look(key);
    if (found !== null) return found;
  }
  return null;
}

function say(path: string, actual: unknown, expected: unknown): string {
  const shown = (value: unknown): string => JSON.stringify(value ?? null);
  return `${path === "" ? "it" : path} is ${shown(actual)}, expected ${shown(expected)}`;
}
