export { ApiError, Unreachable } from "./api-error.ts";
export {
  type CallOptions,
  Client,
  type ClientOptions,
  permissionOf,
  type StreamedMessage,
} from "./client.ts";
export { isAway, isBusy } from "./patience.ts";
