/**
 * Wakes readers when the log grows: one LISTEN connection, shared by all callbacks of a process, and polling of the
 * head as the fallback. States: idle (no callbacks, no connection), listening, reconnecting. After each reconnect all
 * callbacks run, because notifications may have been missed.
 */
import pg, { type ClientConfig } from "pg";
import { logLimits } from "../limits.ts";

export class AppendListener {
  readonly #config: ClientConfig;
  readonly #head: () => Promise<number>;
  readonly #callbacks = new Set<() => void>();
  #client: pg.Client | undefined;
  #listening: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #poll: NodeJS.Timeout | undefined;
  #lastHead = -1;
  #closed = false;

  constructor(config: ClientConfig, head: () => Promise<number>) {
    this.#config = config;
    this.#head = head;
  }

  /** Resolves when the connection listens, or when the first attempt has failed and only polling remains. */
  async add(callback: () => void): Promise<AsyncDisposable> {
    // A separate wrapper lets one function be added twice.
    const entry = (): void => callback();
    this.#callbacks.add(entry);
    this.#poll ??= setInterval(() => void this.#pollHead(), logLimits.pollMs).unref();
    this.#listening ??= this.#listen();
    await this.#listening;
    return {
      [Symbol.asyncDispose]: async () => {
        this.#callbacks.delete(entry);
        if (this.#callbacks.size === 0) await this.#stop();
      },
    };
  }

  #callEveryone(): void {
    for (const callback of this.#callbacks) callback();
  }

  async #listen(): Promise<void> {
    const client = new pg.Client({ ...this.#config, query_timeout: logLimits.answerTimeoutMs });
    let lost = false;
    const reconnect = (): void => {
      if (lost) return;
      lost = true;
      client.connection.stream.destroy();
      if (this.#client === client) this.#client = undefined;
      this.#reconnectSoon();
    };
    client.on("error", reconnect);
    client.on("end", reconnect);
    client.on("notification", () => this.#callEveryone());
    try {
      await client.connect();
      await client.query("listen trainyard_log");
    } catch {
      // Polling continues meanwhile; a reader of the log gets the reason as a Fault.
      reconnect();
      return;
    }
    if (this.#closed || this.#callbacks.size === 0) {
      lost = true;
      await client.end().catch(() => {}); // No callback is left.
      return;
    }
    this.#client = client;
    this.#callEveryone();
  }

  #reconnectSoon(): void {
    if (this.#closed || this.#callbacks.size === 0 || this.#retry !== undefined) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      if (!this.#closed && this.#callbacks.size > 0) this.#listening = this.#listen();
    }, logLimits.reconnectMs).unref();
  }

  async #pollHead(): Promise<void> {
    try {
      const head = await this.#head();
      if (head !== this.#lastHead) this.#callEveryone();
      this.#lastHead = head;
    } catch {
      // The next poll retries.
    }
  }

  async #stop(): Promise<void> {
    clearInterval(this.#poll);
    clearTimeout(this.#retry);
    this.#poll = undefined;
    this.#retry = undefined;
    this.#listening = undefined;
    const client = this.#client;
    this.#client = undefined;
    client?.removeAllListeners("end");
    await client?.end().catch(() => {}); // The connection may have closed already.
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#callbacks.clear();
    await this.#stop();
  }
}
