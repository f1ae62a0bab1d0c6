import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const versions = join(import.meta.dirname, "..", "..", "migrations");

/** Returns a folder with a copy of the log's versions, to which a test adds others; the stack deletes it. */
export async function copyOfVersions(stack: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "trainyard-versions-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await cp(versions, folder, { recursive: true });
  return folder;
}
