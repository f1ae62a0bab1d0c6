export { type NatsBinaryOptions, type NatsSource, natsServerBinary } from "./nats-binary.ts";
export {
  type NatsConfigOptions,
  type NatsUser,
  natsUsersOf,
  renderAuthorization,
  renderNatsConfig,
} from "../nats-config.ts";
export {
  type BusPrincipal,
  busPrincipals,
  busUserOf,
  type Permissions,
  permissionsOf,
} from "../permissions.ts";
