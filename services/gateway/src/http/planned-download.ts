import type { Plain } from "@trainyard/contracts";
import type { PlannedRequest } from "@trainyard/contracts/commands";
import type { OpenedContent } from "./archive.ts";
import { httpLimits } from "./limits.ts";
import { unavailable } from "./problem.ts";

/** Opens a file of an object store by its planned URL. Throws if the store does not return the file. */
export async function openPlanned(
  path: string,
  { url, method, headers }: Plain<PlannedRequest>,
): Promise<OpenedContent> {
  const response = await fetch(url, { method, headers });
  const { body } = response;
  if (!response.ok || body === null) {
    throw new Error(`the object store answered ${response.status} for ${path}`);
  }
  return {
    bytes: Number(response.headers.get("content-length")),
    content: body,
    // A body that is being read is closed with its reader.
    [Symbol.asyncDispose]: async () => (body.locked ? undefined : body.cancel()),
  };
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
