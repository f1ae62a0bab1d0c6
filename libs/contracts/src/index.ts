export type {
  CallName,
  RawName,
  ReplyOf,
  RequestInitOf,
  RequestOf,
  StreamName,
  UnaryName,
} from "./calls.ts";
export {
  type AnyEvent,
  type EventData,
  type EventName,
  type EventOf,
  type EventType,
  eventTypeByName,
  eventTypeOf,
  eventTypes,
  shortNameOf,
  trialEventsOfTasks,
} from "./catalogue.ts";
export { type Codec, codecOf } from "./codec.ts";
export { decodeEvent, encodedBytes, encodeEvent } from "./event-codec.ts";
export type { Plain } from "./plain.ts";
export { isPositionMetric } from "./position-metrics.ts";
export { upcast, upcasters } from "./upcasters.ts";
