/**
 * The keys that leave a terminal, as in ssh: at the start of a line, `~.` leaves, and `~~` types one `~`. They are
 * found in what is typed before it is sent, so they work while there is no connection, too.
 */
const [tilde, dot, carriageReturn, lineFeed] = [0x7e, 0x2e, 0x0d, 0x0a];

export type Typed = { readonly bytes: Uint8Array; readonly leaves: boolean };

export class LeaveKeys {
  #state: "line start" | "within a line" | "tilde" = "line start";

  /** Returns the bytes to send. */
  read(typed: Uint8Array): Typed {
    const bytes: number[] = [];
    for (const byte of typed) {
      if (this.#state === "tilde") {
        if (byte === dot) return { bytes: Uint8Array.from(bytes), leaves: true };
        if (byte !== tilde) bytes.push(tilde);
      } else if (this.#state === "line start" && byte === tilde) {
        this.#state = "tilde";
        continue;
      }
      bytes.push(byte);
      const isEnd = byte === carriageReturn || byte === lineFeed;
      this.#state = isEnd ? "line start" : "within a line";
    }
    return { bytes: Uint8Array.from(bytes), leaves: false };
  }
}
