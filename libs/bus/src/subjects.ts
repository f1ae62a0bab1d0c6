/**
 * Builds subjects. An id is one token: everything but [A-Za-z0-9_-] is percent-encoded in UTF-8. This encoding is
 * one-to-one and avoids the characters that have a meaning in NATS ('.', '*', '>', space).
 */
const encoder = new TextEncoder();
const safe = /^[A-Za-z0-9_-]*$/;

export function encodeToken(id: string): string {
  if (safe.test(id)) return id;
  let token = "";
  for (const byte of encoder.encode(id)) {
    const character = String.fromCharCode(byte);
    token += safe.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return token;
}

export function decodeToken(token: string): string {
  return decodeURIComponent(token);
}

/** Returns ty.event.<aggregate>.<id>.<Event> for a stream and an event's short name. */
export function eventSubject(aggregate: string, id: string, event: string): string {
  return `ty.event.${aggregate}.${encodeToken(id)}.${event}`;
}

export const commandSubject = (service: string, command: string): string =>
  `ty.cmd.${service}.${command}`;

export const agentDoSubject = (agent: string): string => `ty.agent.${encodeToken(agent)}.do`;
export const agentReportSubject = (agent: string): string =>
  `ty.agent.${encodeToken(agent)}.report`;
export const allAgentReports = "ty.agent.*.report";

export const metricSubject = (experiment: string, trial: string, group: string): string =>
  `ty.metric.${encodeToken(experiment)}.${encodeToken(trial)}.${encodeToken(group)}`;

/** Returns the subjects of all groups of one trial, or of all trials of an experiment. */
export const allMetricSubjects = (experiment: string, trial?: string): string =>
  `ty.metric.${encodeToken(experiment)}.${trial === undefined ? "" : `${encodeToken(trial)}.`}>`;

export const logSubject = (task: string): string => `ty.log.${encodeToken(task)}`;

/** Returns the task of a subject that `logSubject` made. */
export const logTaskOf = (subject: string): string => decodeToken(subject.slice("ty.log.".length));

/**
 * The subject of a service's probe: the service receives its own message only while the connection works in both
 * directions.
 */
export const probeSubject = (service: string): string => `ty.probe.${service}`;

/** Returns the subject on which a subscription is delivered. */
export const feedSubject = (subscription: string): string => `ty.feed.${encodeToken(subscription)}`;

/** Returns the subject that acknowledges an event of a subscription. */
export const feedAckSubject = (subscription: string, position: number): string =>
  `ty.feed-ack.${encodeToken(subscription)}.${position}`;

/** Returns the subjects of all acknowledgements of a subscription. */
export const feedAckSubjects = (subscription: string): string =>
  `ty.feed-ack.${encodeToken(subscription)}.*`;

/** Returns the position of a subject that `feedAckSubject` made. */
export const positionOfAck = (subject: string): number => Number(subject.split(".").at(-1));

/** Returns the prefix of a user's inbox, which no other user may subscribe to. */
export const inboxPrefixOf = (user: string): string => `_INBOX_${encodeToken(user)}`;
