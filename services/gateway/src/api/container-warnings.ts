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

/** Whether the pool has agents, and each runs containers. */
async function hasOnlyContainers({ parts }: Backend, pool: string): Promise<boolean> {
  let found = false;
  for await (const agent of parts.documents.each(parts.pool, "agent", {})) {
    if (agent.pool !== pool || agent.state === "REMOVED") continue;
    if (agent.engine === undefined) return false;
    found = true;
  }
  return found;
}
