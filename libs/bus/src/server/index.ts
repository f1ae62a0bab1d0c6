export { type NatsBinaryOptions, type NatsSource, natsServerBinary } from "./nats-binary.ts";
export { startNats, type TestNats, type TestNatsOptions } from "./nats-server.ts";
