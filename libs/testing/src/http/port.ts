/** A server's port on 127.0.0.1, which it can leave and take again. */
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export class Port {
  readonly #serve: RequestListener;
  #http: Server | null = null;
  #number: number;

  /** `number` is the port; 0 for a free one. */
  constructor(serve: RequestListener, number = 0) {
    this.#serve = serve;
    this.#number = number;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#number}`;
  }

  /** Listens; after `leave` on the same port. */
  async listen(): Promise<void> {
    const http = createServer(this.#serve);
    await new Promise<void>((resolve, reject) => {
      http.once("error", reject);
      http.listen(this.#number, "127.0.0.1", resolve);
    });
    this.#number = (http.address() as AddressInfo).port;
    this.#http = http;
  }

  /** Breaks off all connections and refuses new ones. */
  async leave(): Promise<void> {
    const http = this.#http;
    this.#http = null;
    if (http === null) return;
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  }
}
