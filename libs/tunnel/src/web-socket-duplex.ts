/**
 * A byte stream over a WebSocket. Each binary message is a piece of it, and an empty one ends the sender's direction,
 * as the end of a socket's input does; the other direction continues. The WebSocket is closed when both have ended.
 * Texts are refused.
 *
 * Backpressure: while nobody reads, the socket is not read either, and a write is done when the socket has taken the
 * bytes, except for the first `writeAheadBytes`.
 *
 * Silence: after some seconds without a message a ping is sent, and after more of them the link counts as dead. A look
 * at the time counts one step, however late it is, so that a process that was stopped itself does not judge by the
 * clock.
 */
import { Duplex } from "node:stream";
import { type Clock, Fault } from "@trainyard/kernel";
import type { RawData, WebSocket } from "ws";
import { tunnelLimits } from "./limits.ts";

export type LinkOptions = {
  readonly clock: Clock;
  /** The bytes that are handed to the socket without waiting. */
  readonly writeAheadBytes?: number;
  /** The number of looks without a message after which the link is dead; a reader that stops answers no ping. */
  readonly deadLooks?: number;
};

/** Returns the stream of an open WebSocket. No message may have been missed: call it when the WebSocket opens. */
export function webSocketDuplex(socket: WebSocket, options: LinkOptions): Duplex {
  return new WebSocketDuplex(socket, options);
}

class WebSocketDuplex extends Duplex {
  readonly #socket: WebSocket;
  readonly #writeAheadBytes: number;
  readonly #deadLooks: number;
  readonly #clock: Clock;
  #timer: Disposable | null = null;
  /** The number of looks since the last message. */
  #quiet = 0;
  #inputEnded = false;
  #outputEnded = false;

  constructor(socket: WebSocket, options: LinkOptions) {
    super({ allowHalfOpen: true });
    this.#socket = socket;
    this.#clock = options.clock;
    this.#writeAheadBytes = options.writeAheadBytes ?? tunnelLimits.writeAheadBytes;
    this.#deadLooks = options.deadLooks ?? tunnelLimits.deadLooks;
    socket.on("message", (data, isBinary) => this.#take(data, isBinary));
    socket.on("ping", () => (this.#quiet = 0));
    socket.on("pong", () => (this.#quiet = 0));
    socket.on("error", (error) => this.destroy(lost(error)));
    socket.on("close", () => this.#closed());
    this.#look();
  }

  override _read(): void {
    if (this.#socket.isPaused) this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#send(chunk, done);
  }

  /** Chunks that were written at once become one message: HTTP/2 writes the head of a frame and its data apart. */
  override _writev(
    chunks: readonly { chunk: Buffer }[],
    done: (error?: Error | null) => void,
  ): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.send(Buffer.alloc(0), { binary: true }, done);
    this.#outputEnded = true;
    this.#closeIfEnded();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#timer?.[Symbol.dispose]();
    // A WebSocket whose two directions have ended is being closed already.
    if (!this.#inputEnded || !this.#outputEnded) this.#socket.terminate();
    done(error);
  }

  #send(bytes: Buffer, done: (error?: Error | null) => void): void {
    const { messageBytesMax } = tunnelLimits;
    if (bytes.length === 0) return done();
    const isAhead = this.#socket.bufferedAmount + bytes.length <= this.#writeAheadBytes;
    for (let at = 0; at < bytes.length; at += messageBytesMax) {
      const piece = bytes.subarray(at, at + messageBytesMax);
      const isLast = at + messageBytesMax >= bytes.length;
      // The socket reports an error by its own event, too.
      this.#socket.send(piece, { binary: true, compress: false }, (error) => {
        if (isLast && !isAhead) done(error ?? null);
      });
    }
    if (isAhead) done();
  }

  #take(data: RawData, isBinary: boolean): void {
    this.#quiet = 0;
    if (!isBinary || !Buffer.isBuffer(data)) {
      this.#socket.close(1003, "only binary messages are accepted");
      return;
    }
    if (this.#inputEnded) return;
    if (data.length > 0) {
      if (!this.push(data)) this.#socket.pause();
      return;
    }
    this.#inputEnded = true;
    this.push(null);
    this.#closeIfEnded();
  }

  #closeIfEnded(): void {
    if (this.#inputEnded && this.#outputEnded) this.#socket.close(1000);
  }

  /** The bytes that have arrived are still read if the other side ended its direction before it closed. */
  #closed(): void {
    if (!this.#inputEnded || !this.#outputEnded) this.destroy();
  }

  #look(): void {
    this.#timer = this.#clock.timer(tunnelLimits.lookMs, () => {
      // Nothing is heard while the reader stops.
      if (!this.#socket.isPaused) this.#quiet += 1;
      if (this.#quiet >= this.#deadLooks) return void this.destroy(silent());
      if (this.#quiet % tunnelLimits.pingLooks === tunnelLimits.pingLooks - 1) this.#socket.ping();
      this.#look();
    });
  }
}

const silent = (): Fault =>
  new Fault("link_silent", "the other side of the link does not answer", { retry: "later" });

const lost = (cause: Error): Fault =>
  new Fault("link_lost", `the link broke: ${cause.message}`, { retry: "later", cause });
