import type { Plain } from "@trainyard/contracts";
import type { PlannedRequest } from "@trainyard/contracts/commands";
import { httpLimits } from "./limits.ts";
import { unavailable } from "./problem.ts";

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

/** Returns whether the object store has a file, by the planned request for its first byte. */
export async function isStored(
  path: string,
  { url, method, headers }: Plain<PlannedRequest>,
): Promise<boolean> {
  const signal = AbortSignal.timeout(httpLimits.storeAnswerMs);
  const response = await fetch(url, {
    ...{ method, signal, headers: { ...headers, range: "bytes=0-0" } },
  }).catch((): never => {
    throw unavailable("the checkpoint's object store does not answer; try again");
  });
  await response.body?.cancel();
  // An empty file has no first byte.
  if (response.ok || response.status === 416) return true;
  if (response.status === 404) return false;
  throw unavailable(
    `the checkpoint's object store answered ${response.status} for ${JSON.stringify(path)}; try again`,
  );
}
