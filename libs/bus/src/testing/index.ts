export {
  createMemoryBus,
  type Delivery,
  type Fate,
  type MemoryHub,
  type MemoryHubOptions,
} from "./memory/memory-hub.ts";
export { startNats, startNatsCluster, type TestNats, type TestNatsOptions } from "./nats-server.ts";
