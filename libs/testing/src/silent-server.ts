/** A host that accepts connections but never answers, like a store behind a broken network. */
import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

export class SilentServer implements AsyncDisposable {
  /** The number of connections accepted so far. */
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor() {
    this.#server = createServer((socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => this.#sockets.delete(socket));
      socket.resume();
    });
  }

  static async start(): Promise<SilentServer> {
    const silent = new SilentServer();
    await new Promise<void>((resolve) => {
      silent.#server.listen(0, "127.0.0.1", resolve);
    });
    return silent;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
