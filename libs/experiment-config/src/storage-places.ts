/** The places of files by the kinds of storage that run, with the keys of each. */
import { type JsonObject, only, textAt } from "./json.ts";

/** The keys that name a place, by the kind of storage. */
const placeKeysByKind = {
  directory: ["container_path"],
  shared_fs: ["host_path", "storage_path"],
  s3: ["bucket", "prefix", "endpoint_url"],
  gcs: ["bucket", "prefix"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** The kinds of storage that files can be written to. */
export const runningStorages: readonly string[] = Object.keys(placeKeysByKind);

export const placeKeys: readonly string[] = [
  ...new Set(["type", ...Object.values(placeKeysByKind).flat()]),
];

/** Returns a recorded storage's kind, and the keys that name the place of its files. */
export function recordedPlace(storage: { readonly type: string }): {
  readonly type: string;
  readonly place: Readonly<Record<string, string>>;
} {
  const { type, ...place } = only(storage as JsonObject, placeKeys);
  const keys = Object.keys(place).filter((key) => typeof place[key] === "string");
  return {
    type: typeof type === "string" ? type : "",
    place: Object.fromEntries(keys.map((key) => [key, textAt(place, key)])),
  };
}
