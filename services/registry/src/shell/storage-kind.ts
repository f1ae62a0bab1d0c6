import type { brakedKinds } from "@trainyard/blob";

/** Returns the kind of a storage by its address, or by the address of something in it. */
export function kindOfStorage(address: string): (typeof brakedKinds)[number] {
  if (address.startsWith("gs:")) return "gcs";
  return address.startsWith("s3:") ? "s3" : "directory";
}
