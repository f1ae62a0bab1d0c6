/** Compares two recorded configurations by their keys. */
import type { Plain } from "@trainyard/contracts";
import type { ConfigDifference } from "@trainyard/contracts/api";
import { keyPath, maskedDocument } from "@trainyard/experiment-config";
import { isMapping, type Json, type JsonObject } from "@trainyard/kernel";

type Side = { readonly own: Json | undefined; readonly shown: Json | undefined };

/** Returns the keys whose values differ, sorted by name. Lists are compared as a whole, and secrets are masked. */
export function configDifferences(
  before: JsonObject,
  after: JsonObject,
): readonly Plain<ConfigDifference>[] {
  return differences(
    { own: before, shown: maskedDocument(before) },
    { own: after, shown: maskedDocument(after) },
    "",
  );
}

function differences(before: Side, after: Side, path: string): readonly Plain<ConfigDifference>[] {
  const [a, b] = [before.own, after.own];
  if (isMapping(a) && isMapping(b)) {
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].toSorted();
    return keys.flatMap((key) =>
      differences(sideAt(before, key), sideAt(after, key), keyPath(path, key)),
    );
  }
  if (canonical(a) === canonical(b)) return [];
  const told = (value: Json | undefined) =>
    value === undefined ? undefined : JSON.stringify(value);
  return [{ path, before: told(before.shown), after: told(after.shown) }];
}

function sideAt({ own, shown }: Side, key: string): Side {
  return { own: valueAt(own, key), shown: valueAt(shown, key) };
}

function valueAt(value: Json | undefined, key: string): Json | undefined {
  return isMapping(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Sorts the keys of mappings, whose order has no meaning. */
function canonical(value: Json | undefined): string {
  return (
    JSON.stringify(value, (_key, inner: Json) =>
      isMapping(inner)
        ? Object.fromEntries(Object.entries(inner).toSorted(([x], [y]) => (x < y ? -1 : 1)))
        : inner,
    ) ?? ""
  );
}
