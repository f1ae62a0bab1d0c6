/**
 * Where a terminal's output may be cut: not within an escape sequence or a character. A screen is taken only there,
 * since the output after it is written to an emptied terminal. The states are those of Paul Williams' parser of DEC
 * terminals (vt100.net/emu/dec_ansi_parser), as far as a cut needs them.
 */

type State = "ground" | "escape" | "control" | "string" | "command" | "character";

const ESC = 0x1b;
const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;

/** The states that follow ESC and these characters; all others end the sequence. */
const afterEscape: Readonly<Record<string, State>> = {
  "[": "control",
  "]": "command",
  P: "string",
  X: "string",
  "^": "string",
  _: "string",
};

export class Ground {
  #state: State = "ground";
  /** The bytes that the present character still needs. */
  #needed = 0;

  get isGround(): boolean {
    return this.#state === "ground";
  }

  reset(): void {
    this.#state = "ground";
  }

  /** Reads the bytes, and returns how many of them precede the last place for a cut; 0 if there is none. */
  read(bytes: Uint8Array): number {
    let last = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      this.#state = this.#next(bytes[at] ?? 0);
      if (this.#state === "ground") last = at + 1;
    }
    return last;
  }

  #next(byte: number): State {
    if (byte === ESC) return "escape";
    switch (this.#state) {
      case "ground":
        return this.#begin(byte);
      case "character":
        this.#needed -= 1;
        // A byte that continues no character begins something else.
        if ((byte & 0xc0) !== 0x80) return this.#begin(byte);
        return this.#needed > 0 ? "character" : "ground";
      case "escape":
        // Controls are executed within a sequence, and 0x20 to 0x2f are its intermediates.
        return byte < 0x30 ? "escape" : (afterEscape[String.fromCharCode(byte)] ?? "ground");
      case "control":
        if (byte === CAN || byte === SUB) return "ground";
        return byte >= 0x40 && byte < 0x7f ? "ground" : "control";
      case "command":
        return byte === BEL || byte === CAN || byte === SUB ? "ground" : "command";
      case "string":
        return byte === CAN || byte === SUB ? "ground" : "string";
    }
  }

  #begin(byte: number): State {
    this.#needed = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc2 ? 1 : 0;
    return this.#needed > 0 ? "character" : "ground";
  }
}
