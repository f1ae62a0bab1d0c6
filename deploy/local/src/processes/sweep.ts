import type { Home } from "../home/home.ts";
import { limits } from "../limits.ts";
import { isAlive, type ProcessIdentity, signal } from "./process-identity.ts";
import { findMembers } from "./records.ts";
import { waitUntil } from "./wait.ts";

/**
 * Ends whatever still belongs to the cluster after its processes were stopped, such as the trials of an agent that was
 * killed. First those that watch over a trial, by SIGTERM: they record a shutdown, for which nobody is to blame, and
 * pass the signal on. A trial that does not leave is killed while it is still watched, so that its end is recorded too;
 * then come all others.
 */
export async function sweep(clusterId: string, home: Home): Promise<void> {
  const { ofRuns, watching } = findMembers(clusterId, home);
  // A watcher leaves when its trial has.
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
