import type { Plain } from "@trainyard/contracts";
import type { PlannedRequest } from "@trainyard/contracts/commands";

export type OpenedDownload = {
  readonly bytes: number;
  readonly content: AsyncIterable<Uint8Array>;
};

/** Opens a file of an object store by its planned URL. Throws if the store does not return the file. */
export async function openPlanned(
  path: string,
  { url, method, headers }: Plain<PlannedRequest>,
): Promise<OpenedDownload> {
  const response = await fetch(url, { method, headers });
  if (!response.ok || response.body === null) {
    throw new Error(`the object store answered ${response.status} for ${path}`);
  }
  return { bytes: Number(response.headers.get("content-length")), content: response.body };
}
