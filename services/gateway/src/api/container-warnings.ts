/** The warnings about keys that take effect in containers only. */
import { IN_CONTAINERS } from "@trainyard/experiment-config";
import type { FieldProblem } from "@trainyard/kernel";
import type { Backend } from "../backend.ts";

/** Returns the warnings as texts, without those that no agent of the pool gives a reason for. */
export async function shownWarnings(
  backend: Backend,
  warnings: readonly FieldProblem[],
  pool: string,
): Promise<readonly string[]> {
  const some = warnings.some(({ detail }) => detail === IN_CONTAINERS);
  const needless = some && (await hasOnlyContainers(backend, pool));
  return warnings
    .filter(({ detail }) => !needless || detail !== IN_CONTAINERS)
    .map(({ path, detail }) => `${path} ${detail}`);
}

/** The agents of a pool that are looked at: those of a pool are usually alike. */
const agentsLookedAt = 100;

/** Whether the pool has agents, and each that is looked at runs containers. */
async function hasOnlyContainers({ parts }: Backend, pool: string): Promise<boolean> {
  const ofPool = { limit: agentsLookedAt, field: { name: "pool", value: pool } };
  const rows = await parts.documents.list(parts.pool, "agent", ofPool);
  const agents = rows.filter(({ doc }) => doc.state !== "REMOVED");
  return agents.length > 0 && agents.every(({ doc }) => doc.engine !== undefined);
}
