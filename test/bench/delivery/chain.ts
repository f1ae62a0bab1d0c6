/** The complete path of an event through real parts: a command's append, a relay process, NATS, a consumer. */
import { createNatsBus } from "@trainyard/bus";
import { startNats } from "@trainyard/bus/testing";
import type { EventLog } from "@trainyard/event-log";
import { appendOurs } from "../support/append.ts";
import { type BenchServer, startBenchServer } from "../support/log-server.ts";
import { startRelay } from "../support/relay.ts";
import { Streams } from "../support/payload.ts";

const firstEventMs = 120_000;

export type Chain = AsyncDisposable & {
  readonly server: BenchServer;
  readonly log: EventLog;
  readonly natsUrl: string;
  /** Called for each event that arrives, with its position. */
  onEvent: (position: number) => void;
};

/**
 * Starts all parts; resolves once a first event has arrived at the consumer. With a collector the relay makes a span of
 * each event.
 */
export async function openChain(collector?: string): Promise<Chain> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startBenchServer());
  const nats = stack.use(await startNats());
  const log = stack.use(await server.log("ours"));
  const bus = stack.use(await createNatsBus({ servers: [nats.url], name: "gateway" }));
  startRelay(stack, await server.logUrl("ours"), nats, collector);
  const chain = { server, log, natsUrl: nats.url, onEvent: (_position: number): void => {} };
  stack.use(await bus.tailEvents((event) => chain.onEvent(event.position)));
  await firstEvent(chain);
  const resources = stack.move();
  return Object.assign(chain, { [Symbol.asyncDispose]: () => resources.disposeAsync() });
}

async function firstEvent(chain: { log: EventLog; onEvent: Chain["onEvent"] }): Promise<void> {
  const heard = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("the relay delivered no event")), firstEventMs);
    chain.onEvent = () => {
      clearTimeout(timer);
      resolve();
    };
  });
  await appendOurs(chain.log, new Streams(), 0);
  await heard;
  chain.onEvent = () => {};
}
