/** Addresses of object stores: `s3://bucket/prefix`, and `s3://bucket/prefix at https://host` with an endpoint. */
import { keyPrefix } from "./objects/keys.ts";
import { type CheckpointStorageSection, textIn } from "./storage-kind.ts";
import { kindOfScheme, objectStoreKind } from "./storage-kinds.ts";

export { addressForms } from "./storage-kinds.ts";

/** Returns the address of a section's object store; null for a storage that is a directory. */
export function storeAddress(storage: CheckpointStorageSection): string | null {
  const kind = objectStoreKind(storage)?.[1];
  const bucket = kind === undefined ? null : textIn(storage[kind.bucketKey]);
  if (kind === undefined || bucket === null) return null;
  const prefix = keyPrefix(textIn(storage["prefix"]) ?? "").replace(/\/$/, "");
  const endpoint = kind.endpointKey === null ? null : textIn(storage[kind.endpointKey]);
  // Two endpoints may have different buckets of the same name.
  return (
    [`${kind.scheme}://${bucket}`, ...(prefix === "" ? [] : [`/${prefix}`])].join("") +
    (endpoint === null ? "" : ` at ${endpoint}`)
  );
}

/** One bucket may have several endpoints. */
export function withoutEndpoint(address: string): string {
  return address.replace(/^(\w+:\/\/.*) at https?:\S+$/, "$1");
}

/** Parses an address without an endpoint into a checkpoint_storage section; null for anything else. */
export function sectionOfAddress(
  address: string,
  endpoint?: string,
): Readonly<Record<string, string>> | null {
  const [, scheme, bucket = "", below = ""] = /^(\w+):\/\/([^/\s]+)\/?(\S*)$/.exec(address) ?? [];
  const prefix = below.replace(/^\/+|\/+$/g, "");
  const found = kindOfScheme(scheme);
  if (found === null || prefix.split("/").includes("..")) return null;
  const [type, { bucketKey, endpointKey }] = found;
  return {
    type,
    [bucketKey]: bucket,
    ...(prefix === "" ? {} : { prefix }),
    ...(endpointKey !== null && endpoint !== undefined ? { [endpointKey]: endpoint } : {}),
  };
}

/** Returns the variable with the operator's endpoint of an address; null if the configuration has the endpoint. */
export function endpointVariable(address: string): string | null {
  return kindOfScheme(/^(\w+):/.exec(address)?.[1])?.[1].endpointVariable ?? null;
}
