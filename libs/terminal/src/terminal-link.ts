/**
 * A viewer's connection to a terminal. When the connection breaks, because the gateway, the agent or the network was
 * away, it is made again until the terminal has ended, and the holder then sends the present screen. What is typed
 * while there is no connection is dropped: the person does not see the screen to which it would go.
 */
import { Backoff, type Clock, Fault, isFault } from "@trainyard/kernel";
import { redialPolicy } from "./limits.ts";
import { type Ended, type FromHolder, type Hello, toHolder } from "./messages.ts";
import { type ByteStream, messagesOf } from "./stream.ts";

export type TerminalViewer = {
  /** Throws a Fault. With `retry: "never"` it ends the link. */
  readonly dial: (signal: AbortSignal) => Promise<ByteStream>;
  readonly hello: () => Hello;
  /** Called with each message in order; the next one is read when it has resolved. */
  readonly message: (message: FromHolder) => Promise<void> | void;
  /** Called when a connection is there, and with the reason when there is none. */
  readonly connected: () => void;
  readonly lost: (reason: string) => void;
};

/**
 * The code of a Fault of a stream whose reader is too far behind: another connection begins with the present screen.
 */
const behindCode = "reader_behind";

export const readerBehind = (): Fault =>
  new Fault(behindCode, "the page is behind the terminal's output", { retry: "now" });

export class TerminalLink {
  readonly #viewer: TerminalViewer;
  readonly #clock: Clock;
  /** The connection that takes what is typed. */
  #stream: ByteStream | null = null;

  constructor(viewer: TerminalViewer, clock: Clock) {
    this.#viewer = viewer;
    this.#clock = clock;
  }

  /** Writes a frame; false if there is no connection. */
  write(frame: Uint8Array): boolean {
    void this.#stream?.write(frame);
    return this.#stream !== null;
  }

  /**
   * Returns how the terminal has ended; null when the signal aborts. Throws the Fault that no further attempt can
   * change.
   */
  async run(signal: AbortSignal): Promise<Ended | null> {
    const backoff = new Backoff(redialPolicy, this.#clock, signal);
    try {
      while (!signal.aborted) {
        try {
          return await this.#connect(signal, () => backoff.reset());
        } catch (error) {
          if (signal.aborted) break;
          if (!isFault(error) || error.retry === "never") throw error;
          if (error.code === behindCode) continue;
          this.#replace(null);
          this.#viewer.lost(error.message);
          await backoff.wait();
        }
      }
      return null;
    } finally {
      this.#replace(null);
    }
  }

  async #connect(signal: AbortSignal, opened: () => void): Promise<Ended> {
    const stream = await this.#viewer.dial(signal);
    const close = (): void => stream.close();
    signal.addEventListener("abort", close);
    try {
      if (signal.aborted) close();
      void stream.write(toHolder.hello(this.#viewer.hello()));
      for await (const message of messagesOf(stream)) {
        if (message.type === "opened") {
          this.#replace(stream);
          opened();
          this.#viewer.connected();
        }
        await this.#viewer.message(message);
        if (message.type === "ended") return message;
      }
      throw new Fault("link_lost", "the connection was closed", { retry: "later" });
    } finally {
      signal.removeEventListener("abort", close);
      // The connection of a reader that is behind takes what is typed until the next one is there.
      if (this.#stream !== stream) stream.close();
    }
  }

  #replace(stream: ByteStream | null): void {
    this.#stream?.close();
    this.#stream = stream;
  }
}
