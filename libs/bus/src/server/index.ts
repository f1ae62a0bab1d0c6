export { type NatsBinaryOptions, type NatsSource, natsServerBinary } from "./nats-binary.ts";
