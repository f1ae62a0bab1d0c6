/** boto3 in a virtual environment below `.cache/`. The first use installs it, which takes some seconds. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.ts";
import { makeVirtualEnvironment, pythonOf } from "./virtual-environment.ts";

const folder = join(root, ".cache", "boto3");
/** The stamp is written last. A missing stamp means an unfinished environment, a different text another version. */
const stamp = join(folder, "packages.txt");
const wanted = "boto3==1.43.107";

export type Boto3 = { readonly python: string } | { readonly python: null; readonly why: string };

export async function makeBoto3(say: (line: string) => void): Promise<Boto3> {
  const isMade = existsSync(stamp) && readFileSync(stamp, "utf8") === wanted;
  if (!isMade) {
    say("making a virtual environment with boto3 in .cache/boto3 (once; some seconds) …");
    const problem = await makeVirtualEnvironment(folder, [[wanted]], say);
    if (problem !== null) return { python: null, why: `boto3 cannot be installed: ${problem}` };
    writeFileSync(stamp, wanted);
  }
  return { python: pythonOf(folder) };
}
