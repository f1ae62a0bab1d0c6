export { type NatsBinaryOptions, type NatsSource, natsServerBinary } from "./nats-binary.ts";
export { type NatsConfigOptions, type NatsUser, renderNatsConfig } from "../nats-config.ts";
export {
  type BusPrincipal,
  busUserOf,
  type Permissions,
  permissionsOf,
} from "../permissions.ts";
