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
  categoryOwners,
  type EventData,
  type EventName,
  type EventOf,
  type EventType,
  eventTypeByName,
  eventTypeOf,
  eventTypes,
  shortNameOf,
} from "./catalogue.ts";
export { type Codec, codecOf } from "./codec.ts";
export { decodeEvent, encodedBytes, encodeEvent } from "./event-codec.ts";
export type { Plain } from "./plain.ts";
export { gatewayRoutes, type HttpMethod, pathOf, type Route } from "./routes.ts";
export { upcast, upcasters } from "./upcasters.ts";
