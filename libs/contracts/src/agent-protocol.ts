/** Versions of the protocol between scheduler and agents (agent.proto, "Versions"). */

/** The protocol versions of one side; absent if the side is older than these fields. */
export type Spoken = {
  readonly protocol?: number | undefined;
  readonly protocolOldest?: number | undefined;
};

/**
 * The protocol of this version of Trainyard, for agents and services. `protocol` rises with a change that the other
 * side must know; `protocolOldest` rises when support for an old version ends.
 */
export const spokenProtocol = { protocol: 1, protocolOldest: 0 } as const;

/** Returns why an agent and the services are incompatible, as a sentence; null if they are compatible. */
export function protocolProblem(agent: Spoken, services: Spoken = spokenProtocol): string | null {
  const { protocol: ofAgent = 0, protocolOldest: oldestOfAgent = 0 } = agent;
  const { protocol: ofServices = 0, protocolOldest: oldestOfServices = 0 } = services;
  if (ofAgent < oldestOfServices) {
    return `the agent is too old: it speaks version ${ofAgent} of the agents' protocol, and the services need ${oldestOfServices}; update the agent`;
  }
  if (ofServices < oldestOfAgent) {
    return `the agent is too new: it needs version ${oldestOfAgent} of the agents' protocol, and the services speak ${ofServices}; update the services`;
  }
  return null;
}

/** An allocation on an agent (agent.proto, "Requests"); without a request, each one with the id. */
export type RequestedRun = {
  readonly allocation: string;
  readonly requestId?: string | undefined;
};

/** Returns a text that identifies a run among those of an agent. */
export function runKeyOf({ allocation, requestId = "" }: RequestedRun): string {
  return requestId === "" ? allocation : `${allocation}@${requestId}`;
}

/** Returns the run that a key identifies. */
export function runOfKey(key: string): RequestedRun {
  const at = key.lastIndexOf("@");
  return at < 0
    ? { allocation: key }
    : { allocation: key.slice(0, at), requestId: key.slice(at + 1) };
}

/** Returns those keys of an agent's runs that a message names: the id alone counts if either side has no request. */
export function keysNamed(
  runs: ReadonlyMap<string, unknown>,
  named: RequestedRun,
): readonly string[] {
  const { allocation, requestId = "" } = named;
  if (requestId !== "") return [runKeyOf(named), allocation].filter((key) => runs.has(key));
  return [...runs.keys()].filter((key) => runOfKey(key).allocation === allocation);
}
