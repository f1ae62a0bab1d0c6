/** A receiver of webhooks that answers 204. While it is away nothing listens on its port. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { freePort } from "@trainyard/testing";
import type { Entry } from "./consumers/journal.ts";
import type { Reader } from "./reader.ts";

export class WebhookReceiver implements Reader, AsyncDisposable {
  readonly name = "webhook";
  readonly kind = "webhook";
  readonly entries: Pick<Entry, "sequence" | "id">[] = [];
  readonly positions = new Set<number>();
  readonly violations: string[] = [];
  readonly port: number;
  #server: Server | null = null;

  private constructor(port: number) {
    this.port = port;
  }

  static async open(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(await freePort());
    await receiver.start();
    return receiver;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        this.#take(request.headers["webhook-id"], Buffer.concat(chunks).toString());
        response.writeHead(204).end();
      });
    });
    server.listen(this.port, "127.0.0.1");
    await once(server, "listening");
    this.#server = server;
  }

  #take(name: string | string[] | undefined, text: string): void {
    const { id, sequence } = JSON.parse(text) as { readonly id: string; readonly sequence: string };
    if (name !== id) this.violations.push(`webhook: the event ${id} came as ${String(name)}`);
    this.entries.push({ sequence: Number(sequence), id });
    this.positions.add(Number(sequence));
  }

  look(): void {
    // The server notes each event as it arrives.
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
