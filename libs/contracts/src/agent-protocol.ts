/** Versions of the protocol between scheduler and agents (agent.proto, "Versions"). */

/** The protocol versions of one side. */
export type Spoken = {
  readonly protocol: number;
  readonly protocolOldest: number;
};

/**
 * The protocol of this version of Trainyard, for agents and services. `protocol` rises with a change that the other
 * side must know; `protocolOldest` rises when support for an old version ends.
 */
export const spokenProtocol = { protocol: 1, protocolOldest: 1 } as const;

/** Returns why an agent and the services are incompatible, as a sentence; null if they are compatible. */
export function protocolProblem(agent: Spoken, services: Spoken = spokenProtocol): string | null {
  const { protocol: ofAgent, protocolOldest: oldestOfAgent } = agent;
  const { protocol: ofServices, protocolOldest: oldestOfServices } = services;
  if (ofAgent < oldestOfServices) {
    return `the agent is too old: it speaks version ${ofAgent} of the agents' protocol, and the services need ${oldestOfServices}; update the agent`;
  }
  if (ofServices < oldestOfAgent) {
    return `the agent is too new: it needs version ${oldestOfAgent} of the agents' protocol, and the services speak ${ofServices}; update the services`;
  }
  return null;
}

/** An allocation on an agent (agent.proto, "Requests"). */
export type RequestedRun = {
  readonly allocation: string;
  readonly requestId: string;
};

/** Returns a text that identifies a run among those of an agent. */
export function runKeyOf({ allocation, requestId }: RequestedRun): string {
  return `${allocation}@${requestId}`;
}

/** Returns the run that a key identifies. The request of an allocation's id alone is empty. */
export function runOfKey(key: string): RequestedRun {
  const at = key.lastIndexOf("@");
  return at < 0
    ? { allocation: key, requestId: "" }
    : { allocation: key.slice(0, at), requestId: key.slice(at + 1) };
}
