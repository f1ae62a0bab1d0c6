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
