/** Versions of the protocol between scheduler and agents (agent.proto, "Versions"). */

/** The version of one side: absent from sides that are older than the fields. */
export type Spoken = {
  readonly protocol?: number | undefined;
  readonly protocolOldest?: number | undefined;
};

/**
 * The protocol of this version of Trainyard, the same for agent and services. `protocol` rises with a change that the
 * other side has to know of, `protocolOldest` when an old version is no longer supported.
 */
export const spokenProtocol = { protocol: 1, protocolOldest: 0 } as const;

/** Why an agent and the services do not understand each other, as a sentence; null where they do. */
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
