import { busContract, type BusFixture } from "../contract/index.ts";
import { until } from "../contract/fixture.ts";
import type { Bus } from "../port.ts";
import { startNats } from "../testing/nats-server.ts";
import { createNatsBus } from "./nats-bus.ts";

async function openNatsFixture(): Promise<BusFixture> {
  const server = await startNats();
  const buses: Bus[] = [];
  return {
    connect: async (name) => {
      const bus = await createNatsBus({ servers: server.url, name });
      buses.push(bus);
      return bus;
    },
    down: () => server.kill(),
    up: () => server.start(),
    wipe: async () => {
      await server.wipe();
      await until("all know", () => buses.every((bus) => !bus.connected()));
      await server.start();
    },
    [Symbol.asyncDispose]: async () => {
      for (const bus of buses) await bus[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

busContract("nats", openNatsFixture);
