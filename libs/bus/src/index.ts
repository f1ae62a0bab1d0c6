export { busLimits } from "./limits.ts";
export { createNatsBus, type NatsBusConfig } from "./nats/nats-bus.ts";
export type { StreamKey, StreamLimits } from "./nats/streams.ts";
export type {
  Bus,
  CommandHandler,
  CommandHeaders,
  CommandReply,
  CommandRequest,
  EventOrigin,
  EventsEpoch,
  LastEvent,
  Message,
} from "./port.ts";
export {
  agentDoSubject,
  agentReportSubject,
  allAgentReports,
  allMetricSubjects,
  commandSubject,
  decodeToken,
  encodeToken,
  eventSubject,
  inboxPrefixOf,
  logSubject,
  logTaskOf,
  metricSubject,
  probeSubject,
} from "./subjects.ts";
