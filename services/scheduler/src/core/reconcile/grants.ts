/**
 * Turns a grant of a placement pass into the command that records it, with ranks, addresses, and the rendezvous port.
 */
import type { Plain } from "@trainyard/contracts";
import type { PassedRun } from "@trainyard/contracts/events";
import type { Grant, Passed } from "@trainyard/scheduling";
import { limits } from "../../limits.ts";
import type { AllocationCommand } from "../allocation/state.ts";
import type { Cluster } from "../cluster/cluster.ts";

/** The rendezvous ports in use, by address: agents may share a host. */
export type PortsTaken = ReadonlyMap<string, Set<number>>;

export function portsTaken(cluster: Cluster): PortsTaken {
  const taken = new Map<string, Set<number>>();
  for (const { grant } of cluster.allocations.values()) {
    if (grant === null) continue;
    const ports = taken.get(grant.masterAddress) ?? new Set<number>();
    taken.set(grant.masterAddress, ports.add(grant.masterPort));
  }
  for (const { joined } of cluster.agents.values()) {
    if (!taken.has(joined.address)) taken.set(joined.address, new Set());
  }
  return taken;
}

export function grantCommand(
  cluster: Cluster,
  { id, shares, borrowed, passed }: Grant,
  tokenKey: string,
  taken: PortsTaken,
): AllocationCommand {
  const placements = shares.map(({ agent, slots }, nodeRank) => ({
    agent,
    slots,
    nodeRank,
    address: cluster.agents.get(agent)?.joined.address ?? "",
  }));
  const masterAddress = placements[0]?.address ?? "";
  return {
    kind: "grant",
    placements,
    masterAddress,
    masterPort: choosePort(`${tokenKey} ${id}`, taken.get(masterAddress) ?? new Set()),
    tokenKey,
    folded: cluster.position,
    borrowed,
    ...(passed === undefined ? {} : { passed: passedRun(passed) }),
  };
}

function passedRun({ id, onItsSlots, reserved }: Passed): Plain<PassedRun> {
  return { allocation: id, onItsSlots, reserved };
}

/**
 * Chooses a port that no other allocation uses at that address. The host may use it for another program, which is
 * unknown. The name differs between clusters, since another cluster on the host has runs with the same ids.
 */
function choosePort(name: string, used: Set<number>): number {
  let place = hash(name) % limits.masterPorts;
  while (used.has(portAt(place)) && used.size < limits.masterPorts) {
    place = (place + 1) % limits.masterPorts;
  }
  used.add(portAt(place));
  return portAt(place);
}

function portAt(place: number): number {
  return limits.masterPortFirst + place * limits.portsPerRun;
}

/** FNV-1a: spreads ids, so that a port is rarely used again right after its last user. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193) >>> 0;
  }
  return value;
}
