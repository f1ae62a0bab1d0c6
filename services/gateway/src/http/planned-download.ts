import type { Plain } from "@trainyard/contracts";
import type { PlannedRequest } from "@trainyard/contracts/commands";
import type { OpenedContent } from "./archive.ts";

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
