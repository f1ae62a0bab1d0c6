import type { AgentCommand } from "../agent/state.ts";
import type { AllocationCommand } from "../allocation/state.ts";
import type { Origin } from "../cluster/state.ts";
import type { PoolCommand } from "../pool/decide.ts";

/** A command to one of this service's streams, with the origin that its events inherit. */
export type Decision = { readonly id: string; readonly origin: Origin | null } & (
  | { readonly on: "allocation"; readonly command: AllocationCommand }
  | { readonly on: "agent"; readonly command: AgentCommand }
  | { readonly on: "pool"; readonly command: PoolCommand }
);

/** Groups decisions with the same origin into commits, in their order, up to a commit's limit of streams. */
export function commitsOf(
  decisions: readonly Decision[],
  streamsMax: number,
): readonly (readonly Decision[])[] {
  const byOrigin = new Map<string, Decision[][]>();
  for (const decision of decisions) {
    const { origin } = decision;
    const key = JSON.stringify([origin?.workspace, origin?.correlationid, origin?.authid]);
    const commits = byOrigin.get(key) ?? [[]];
    byOrigin.set(key, commits);
    const last = commits[commits.length - 1] as Decision[];
    const streams = new Set(last.map(({ on, id }) => `${on}-${id}`));
    if (streams.size < streamsMax || streams.has(`${decision.on}-${decision.id}`)) {
      last.push(decision);
    } else commits.push([decision]);
  }
  return [...byOrigin.values()].flat();
}
