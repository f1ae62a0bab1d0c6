import type { Home } from "./home.ts";
import { limits } from "./limits.ts";
import { isAlive, type ProcessIdentity, signal } from "./process-identity.ts";
import { findMembers } from "./records.ts";
import { waitUntil } from "./wait.ts";

/**
 * Ends whatever still belongs to the cluster after its processes were stopped, such as the trials of an agent that was
 * killed. Trials first and by SIGTERM, so that what watches them can record how they ended; in the end by SIGKILL.
 */
export async function sweep(clusterId: string, home: Home): Promise<void> {
  await end(findMembers(clusterId, home).ofRuns, "SIGTERM");
  await end(findMembers(clusterId, home).supervised, "SIGTERM");
  const { ofRuns, supervised } = findMembers(clusterId, home);
  await end([...ofRuns, ...supervised], "SIGKILL");
}

async function end(members: readonly ProcessIdentity[], how: NodeJS.Signals): Promise<void> {
  for (const member of members) signal(member, how);
  await waitUntil(() => !members.some(isAlive), limits.sweepMs);
}
