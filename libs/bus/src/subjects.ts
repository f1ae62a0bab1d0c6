/**
 * Subjects. An id is one token: everything but [A-Za-z0-9_-] is percent-encoded in UTF-8, which keeps the encoding
 * one-to-one and free of the characters that NATS gives a meaning ('.', '*', '>', space).
 */
const encoder = new TextEncoder();

export function encodeToken(id: string): string {
  let token = "";
  for (const byte of encoder.encode(id)) {
    const character = String.fromCharCode(byte);
    token += /[A-Za-z0-9_-]/.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return token;
}

export function decodeToken(token: string): string {
  return decodeURIComponent(token);
}

/** ty.event.<aggregate>.<id>.<Event>, from a stream and an event's short name. */
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

/** The task of a subject that `logSubject` made. */
export const logTaskOf = (subject: string): string => decodeToken(subject.slice("ty.log.".length));

/** A service hears its own probe only while the link both ways is up. */
export const probeSubject = (service: string): string => `ty.probe.${service}`;

/** Answers to a user's own questions come in below this, and no other user may listen there. */
export const inboxPrefixOf = (user: string): string => `_INBOX_${encodeToken(user)}`;
