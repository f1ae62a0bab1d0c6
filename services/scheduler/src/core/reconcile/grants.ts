/** From a placement pass's grant to the command that records it: ranks, addresses, the rendezvous port. */
import type { Grant } from "@trainyard/scheduling";
import { limits } from "../../limits.ts";
import type { AllocationCommand } from "../allocation/state.ts";
import type { Cluster } from "../cluster/cluster.ts";

/** The ports that this round has given out already, by agent. */
export type PortsTaken = Map<string, Set<number>>;

export function grantCommand(
  cluster: Cluster,
  { id, shares }: Grant,
  tokenKey: string,
  taken: PortsTaken,
): AllocationCommand {
  const placements = shares.map(({ agent, slots }, nodeRank) => ({
    agent,
    slots,
    nodeRank,
    address: cluster.agents.get(agent)?.joined.address ?? "",
  }));
  const first = placements[0];
  return {
    kind: "grant",
    placements,
    masterAddress: first?.address ?? "",
    masterPort: first === undefined ? 0 : choosePort(cluster, id, first.agent, taken),
    tokenKey,
  };
}

/** A port that no other unended allocation has on that agent. Whether the host uses it for something else is unknown. */
function choosePort(cluster: Cluster, id: string, agent: string, taken: PortsTaken): number {
  const used = taken.get(agent) ?? new Set<number>();
  taken.set(agent, used);
  for (const other of cluster.placedOn(agent)) {
    const grant = cluster.allocations.get(other)?.grant;
    if (grant?.placements[0]?.agent === agent) used.add(grant.masterPort);
  }
  let offset = hash(id) % limits.masterPorts;
  while (used.has(limits.masterPortFirst + offset) && used.size < limits.masterPorts) {
    offset = (offset + 1) % limits.masterPorts;
  }
  const port = limits.masterPortFirst + offset;
  used.add(port);
  return port;
}

/** FNV-1a: spreads ids, so that a port is rarely taken over right after its last user. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193) >>> 0;
  }
  return value;
}
