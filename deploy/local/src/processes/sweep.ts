import type { Home } from "../home/home.ts";
import { limits } from "../limits.ts";
import { isAlive, type ProcessIdentity, signal } from "./process-identity.ts";
import { findMembers } from "./records.ts";
import { waitUntil } from "./wait.ts";

/**
 * Ends all processes that still belong to the cluster after its processes were stopped, such as the trials of a killed
 * agent. The processes that watch a trial are ended first, by SIGTERM: they record a shutdown, which counts as no
 * failure of the trial, and pass the signal on. A trial that does not end is killed while it is still watched, so that
 * its end is recorded too. All other processes are ended last.
 */
export async function sweep(clusterId: string, home: Home): Promise<void> {
  const { ofRuns, watching } = findMembers(clusterId, home);
  // A watching process ends after its trial.
  await end(watching, "SIGTERM");
  await end(ofRuns, "SIGTERM");
  await end(findMembers(clusterId, home).ofRuns, "SIGKILL");
  await waitUntil(() => !watching.some(isAlive), limits.sweepMs);
  await end(findMembers(clusterId, home).supervised, "SIGTERM");
  const left = findMembers(clusterId, home);
  await end([...left.ofRuns, ...left.supervised], "SIGKILL");
}

async function end(members: readonly ProcessIdentity[], how: NodeJS.Signals): Promise<void> {
  for (const member of members) signal(member, how);
  await waitUntil(() => !members.some(isAlive), limits.sweepMs);
}
