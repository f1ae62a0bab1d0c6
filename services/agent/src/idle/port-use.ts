/** Counts the bytes that pass the declared ports of a run through its tunnel. */
import type { Socket } from "node:net";

type Counted = Pick<Socket, "bytesRead" | "bytesWritten" | "once">;

const bytesOf = ({ bytesRead, bytesWritten }: Counted): number => bytesRead + bytesWritten;

export class PortUse {
  readonly #open = new Set<Counted>();
  #closedBytes = 0;
  #seenBytes = 0;
  #usedMs: number | null = null;

  add<T extends Counted>(stream: T): T {
    this.#open.add(stream);
    stream.once("close", () => {
      this.#open.delete(stream);
      this.#closedBytes += bytesOf(stream);
    });
    return stream;
  }

  /** Returns how long ago a look first saw the last bytes; null if none passed. `upMs` is the host's uptime. */
  agoMs(upMs: number): number | null {
    const bytes = [...this.#open].reduce((sum, one) => sum + bytesOf(one), this.#closedBytes);
    if (bytes !== this.#seenBytes) this.#usedMs = upMs;
    this.#seenBytes = bytes;
    return this.#usedMs === null ? null : upMs - this.#usedMs;
  }
}
