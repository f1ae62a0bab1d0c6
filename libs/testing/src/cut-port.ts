/** A port that leads to another one of this machine until it is cut: then it refuses connections. */
import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";
import { once } from "node:events";

export class CutPort implements AsyncDisposable {
  readonly #to: number;
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  #port = 0;

  private constructor(to: number) {
    this.#to = to;
  }

  static async open(to: number): Promise<CutPort> {
    const opened = new CutPort(to);
    await opened.mend();
    return opened;
  }

  get port(): number {
    return this.#port;
  }

  async mend(): Promise<void> {
    const server = createServer((from) => {
      const to = connect(this.#to, "127.0.0.1");
      for (const [one, other] of [
        [from, to],
        [to, from],
      ] as const) {
        this.#sockets.add(one);
        one.on("error", () => {});
        one.on("close", () => {
          this.#sockets.delete(one);
          other.destroy();
        });
        one.pipe(other);
      }
    });
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async cut(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    for (const socket of this.#sockets) socket.destroy();
    if (server !== null) await new Promise((resolve) => server.close(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cut();
  }
}
