export { busLimits } from "./limits.ts";
export { feedUserConfig, feedUserOf } from "./feed-user.ts";
export { createNatsBus, type NatsBusConfig } from "./nats/nats-bus.ts";
export type { StreamKey, StreamLimits } from "./nats/streams.ts";
export type {
  AskingMessage,
  Bus,
  CommandHandler,
  CommandHeaders,
  CommandReply,
  CommandRequest,
  EventOrigin,
  EventsEpoch,
  LastEvent,
  Message,
  ServedCommand,
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
  feedAckSubject,
  feedAckSubjects,
  feedSubject,
  inboxPrefixOf,
  logSubject,
  logTaskOf,
  metricSubject,
  positionOfAck,
  probeSubject,
} from "./subjects.ts";
