/** Refuses runs that no agent of the cluster could ever hold. */
import type { RequestedResources } from "@trainyard/experiment-config/recorded";
import type { Backend } from "../backend.ts";
import { Problem } from "../http/problem.ts";
import type { RequestContext } from "../http/request-context.ts";

/**
 * Refuses resources that the cluster can never provide, since such a run would wait forever. The read model accepts a
 * run without constraints if it knows enough slots. Otherwise the scheduler decides, since it knows constraints and
 * agents that have just joined. While the scheduler is unavailable, no request is refused, and the waiting run shows
 * its reason. `slotsKey` is the configuration's key for the number of slots.
 */
export async function refuseImpossible(
  backend: Backend,
  resources: RequestedResources,
  context: RequestContext,
  slotsKey = "slots_per_trial",
): Promise<void> {
  if (await hasSlotsFor(backend, resources)) return;
  const check = await backend
    .command("scheduler", "CheckPlace", { resources }, context)
    .catch((error: unknown) => {
      if (error instanceof Problem && error.status === 503) return null;
      throw error;
    });
  if (check === null || check.possible) return;
  const isOfSlots = check.key === "slots_per_trial";
  const detail = `cannot be satisfied: ${check.detail}`;
  const path = `resources.${isOfSlots ? slotsKey : check.key}`;
  const code = isOfSlots ? "too_many_slots" : "no_place";
  throw new Problem(400, code, `${path} ${detail}`, { problems: [{ path, detail }] });
}

async function hasSlotsFor(
  backend: Backend,
  { pool, slots, singleAgent, constraints }: RequestedResources,
): Promise<boolean> {
  if (constraints !== undefined) return false;
  const { documents, pool: database } = backend.parts;
  let known = 0;
  for await (const agent of documents.each(database, "agent", { parent: pool })) {
    const size = agent.slots.filter(({ withdrawn }) => withdrawn !== true).length;
    known = singleAgent ? Math.max(known, size) : known + size;
    if (slots <= known) return true;
  }
  return false;
}
