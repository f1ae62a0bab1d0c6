export { ApiError, Unreachable } from "./api-error.ts";
export type { ReplyOf, RequestOf, StreamName, UnaryName } from "./calls.ts";
export { type CallOptions, Client, type ClientOptions, type StreamedMessage } from "./client.ts";
