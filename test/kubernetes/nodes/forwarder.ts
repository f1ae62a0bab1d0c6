/** A TCP server on an address of the bridge that connects each client to one of its targets, in turn. */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as after } from "node:timers/promises";

export type Target = { readonly host: string; readonly port: number };

const connectMs = 5_000;
/** A port that was closed a moment ago may still be in use. */
const reopenMs = 1_000;

export class Forwarder {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #targets: readonly Target[];
  #turn = 0;

  private constructor(targets: readonly Target[]) {
    this.#targets = targets;
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
  }

  static async open(host: string, port: number, targets: readonly Target[]): Promise<Forwarder> {
    const untilMs = performance.now() + reopenMs;
    for (;;) {
      const forwarder = new Forwarder(targets);
      const listening = once(forwarder.#server, "listening");
      forwarder.#server.listen({ host, port });
      try {
        await listening;
        return forwarder;
      } catch (error) {
        const isBusy = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
        if (!isBusy || performance.now() > untilMs) throw error;
        await after(20);
      }
    }
  }

  /** Open connections keep their targets. */
  retarget(targets: readonly Target[]): void {
    this.#targets = targets;
  }

  /** Refuses new connections; open ones continue until `abort`. */
  close(): void {
    this.#server.close();
  }

  abort(): void {
    this.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(client: Socket): void {
    const target = this.#targets[this.#turn % this.#targets.length];
    this.#turn += 1;
    if (target === undefined) {
      client.resetAndDestroy();
      return;
    }
    const server = connect({ ...target, allowHalfOpen: true, timeout: connectMs });
    server.once("connect", () => server.setTimeout(0));
    server.once("timeout", () => server.destroy(new Error("no answer in time")));
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.setNoDelay(true);
      from.pipe(to);
      // A broken connection is broken for the other side, too.
      from.on("error", () => to.resetAndDestroy());
      from.once("close", () => {
        this.#sockets.delete(from);
        to.destroySoon();
      });
    }
  }
}
