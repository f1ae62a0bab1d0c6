/** The complete path of an event through real parts: a command's append, a relay process, NATS, a consumer. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createNatsBus } from "@trainyard/bus";
import { startNats } from "@trainyard/bus/testing";
import type { EventLog } from "@trainyard/event-log";
import { appendOurs } from "../support/append.ts";
import { type BenchServer, startBenchServer } from "../support/log-server.ts";
import { Streams } from "../support/payload.ts";

const firstEventMs = 120_000;
const relayMain = join(
  import.meta.dirname,
  "..",
  "..",
  "..",
  "services",
  "relay",
  "src",
  "main.ts",
);

export type Chain = AsyncDisposable & {
  readonly server: BenchServer;
  readonly log: EventLog;
  readonly natsUrl: string;
  /** Called for each event that arrives, with its position. */
  onEvent: (position: number) => void;
};

/** Starts all parts; resolves once a first event has arrived at the consumer. */
export async function openChain(): Promise<Chain> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startBenchServer());
  const nats = stack.use(await startNats());
  const log = stack.use(await server.log("ours"));
  const bus = stack.use(await createNatsBus({ servers: [nats.url], name: "gateway" }));
  const relay = spawn(process.execPath, [relayMain], {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      TRAINYARD_POSTGRES_URL: await server.logUrl("ours"),
      TRAINYARD_NATS_URL: nats.url,
      TRAINYARD_LOG_LEVEL: "warn",
    },
  });
  stack.defer(() => ended(relay));
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

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}
