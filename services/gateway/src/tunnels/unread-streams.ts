/**
 * The memory of all streams through tunnels whose readers are slower than their writers. One stream holds less than
 * 1 MiB, but thousands of readers that stopped would together use up the gateway's memory. So the sum has a budget: ten
 * times a second, what is beyond it is freed by closing streams, first those that have not moved for longest, and of
 * those the ones with the most bytes. Streams without waiting bytes are never closed.
 */
import type { Duplex, Readable, Writable } from "node:stream";
import { type Clock, Fault } from "@trainyard/kernel";
import type { Logger } from "@trainyard/runtime";
import { tunnelRoomLimits } from "./limits.ts";

type Watched = {
  readonly stream: Readable | Writable;
  readonly waiting: () => number;
  bytes: number;
  /** The time of the last look at which the number of waiting bytes was another one. */
  movedAtMs: number;
};

export class UnreadStreams {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #watched = new Set<Watched>();
  readonly #bytesMax: number;
  #isLooking = false;

  constructor(clock: Clock, logger: Logger, bytesMax: number = tunnelRoomLimits.unreadBytesMax) {
    this.#clock = clock;
    this.#logger = logger;
    this.#bytesMax = bytesMax;
  }

  /** Counts the waiting bytes of a stream until it closes. */
  watch(stream: Readable | Writable, waiting: () => number): void {
    if (stream.destroyed) return;
    const watched = { stream, waiting, bytes: 0, movedAtMs: this.#clock.monotonicMs() };
    this.#watched.add(watched);
    stream.once("close", () => this.#watched.delete(watched));
    this.#lookLater();
  }

  #lookLater(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#clock.timer(tunnelRoomLimits.unreadLookMs, () => {
      this.#isLooking = false;
      this.#look();
      if (this.#watched.size > 0) this.#lookLater();
    });
  }

  #look(): void {
    const nowMs = this.#clock.monotonicMs();
    let sum = 0;
    for (const watched of this.#watched) {
      const bytes = watched.waiting();
      if (bytes !== watched.bytes) watched.movedAtMs = nowMs;
      watched.bytes = bytes;
      sum += bytes;
    }
    if (sum <= this.#bytesMax) return;
    const waiting = [...this.#watched].filter(({ bytes }) => bytes > 0);
    waiting.sort((one, other) => one.movedAtMs - other.movedAtMs || other.bytes - one.bytes);
    let left = sum;
    let closed = 0;
    for (const { stream, bytes } of waiting) {
      if (left <= this.#bytesMax) break;
      // An error that nobody hears would end the gateway.
      stream.on("error", () => {});
      stream.destroy(notRead(this.#bytesMax));
      left -= bytes;
      closed += 1;
    }
    this.#logger.warn(
      { unreadBytes: sum, streams: waiting.length, closed },
      "unread_streams_closed",
    );
  }
}

/** The bytes that wait in a stream, in both directions. */
export const bytesIn = ({ readableLength, writableLength }: Duplex): number =>
  readableLength + writableLength;

const notRead = (bytesMax: number): Fault =>
  new Fault(
    "not_read",
    `the stream was closed because its reader had stopped, and ${bytesMax / 1024 ** 2} MiB waited for such readers`,
    { retry: "later" },
  );
