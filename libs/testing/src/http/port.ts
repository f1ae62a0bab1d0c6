/** A server's place on 127.0.0.1, which it may leave for a while and take again. */
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export class Port {
  readonly #serve: RequestListener;
  #http: Server | null = null;
  #number: number;

  /** `number`: 0 for a free one. */
  constructor(serve: RequestListener, number = 0) {
    this.#serve = serve;
    this.#number = number;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#number}`;
  }

  /** After `leave` on the same port again. */
  async listen(): Promise<void> {
    const http = createServer(this.#serve);
    await new Promise<void>((resolve, reject) => {
      http.once("error", reject);
      http.listen(this.#number, "127.0.0.1", resolve);
    });
    this.#number = (http.address() as AddressInfo).port;
    this.#http = http;
  }

  /** Breaks every connection off and refuses new ones. */
  async leave(): Promise<void> {
    const http = this.#http;
    this.#http = null;
    if (http === null) return;
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  }
}
