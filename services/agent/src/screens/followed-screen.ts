/**
 * The screen of one terminal: what a terminal emulator shows that reads the terminal's record from its holder. It gives
 * snapshots, bytes that make the same screen in an emptied terminal.
 */
import headless from "@xterm/headless";
import { frameBytesMax, type Size, type Sized } from "@trainyard/terminal";
import { limits } from "../limits.ts";
import { Ground } from "./ground.ts";
import { innerOf, serialized } from "./serialize.ts";

export type Snapshot = { readonly at: Sized; readonly bytes: Uint8Array };

const utf8 = new TextEncoder();

export class FollowedScreen implements Disposable {
  readonly #terminal: headless.Terminal;
  readonly #ground = new Ground();
  /** The position in the terminal's record. */
  #offset = 0;
  /** The bytes since the last snapshot. */
  #unseen = 0;

  constructor({ columns, rows }: Size) {
    this.#terminal = new headless.Terminal({
      cols: columns,
      rows,
      scrollback: limits.screenScrollbackLines,
      allowProposedApi: true,
      logLevel: "off",
    });
    eraseWithoutError(this.#terminal);
  }

  get unseenBytes(): number {
    return this.#unseen;
  }

  resize({ columns, rows, offset }: Sized): void {
    this.#offset = offset;
    this.#terminal.resize(columns, rows);
  }

  /** Replaces the screen by another one at the present position. Throws if the emulator fails. */
  replace(bytes: Uint8Array): void {
    this.#terminal.reset();
    this.#ground.reset();
    this.#write(bytes);
    this.#unseen = 0;
  }

  /** Reads output. Returns a snapshot on the way if one is due. Throws if the emulator fails. */
  write(bytes: Uint8Array): Snapshot | null {
    this.#unseen += bytes.length;
    const cut = this.#ground.read(bytes);
    this.#write(bytes.subarray(0, cut));
    this.#offset += cut;
    const snapshot =
      cut > 0 && this.#unseen >= limits.screenSnapshotBytes ? this.#snapshot() : null;
    this.#write(bytes.subarray(cut));
    this.#offset += bytes.length - cut;
    return snapshot;
  }

  /** Null within an escape sequence, behind the end of a line, or if the screen is too large for a frame. */
  snapshot(): Snapshot | null {
    return this.#ground.isGround ? this.#snapshot() : null;
  }

  /** An error of the emulator in `write` of its API would end the thread. */
  #write(bytes: Uint8Array): void {
    if (bytes.length > 0) innerOf(this.#terminal).writeSync(bytes);
  }

  #snapshot(): Snapshot | null {
    // A cursor behind the last column, where the next character begins a line, cannot be put there by a sequence.
    if (this.#terminal.buffer.active.cursorX === this.#terminal.cols) return null;
    this.#unseen = 0;
    const at = {
      offset: this.#offset,
      columns: this.#terminal.cols,
      rows: this.#terminal.rows,
    };
    for (const scrollback of [limits.screenScrollbackLines, 0]) {
      const bytes = utf8.encode(serialized(this.#terminal, scrollback));
      if (bytes.length < frameBytesMax - limits.screenHeadBytes) return { at, bytes };
    }
    return null;
  }

  [Symbol.dispose](): void {
    this.#terminal.dispose();
  }
}

/** xterm.js 6.0.0 throws at "erase up to the cursor" in the last column of the last row, where that is all. */
export function eraseWithoutError(terminal: headless.Terminal): void {
  terminal.parser.registerCsiHandler({ final: "J" }, ([parameter]) => {
    const { cursorX, cursorY } = terminal.buffer.active;
    const isAll = cursorX >= terminal.cols - 1 && cursorY === terminal.rows - 1;
    if (parameter !== 1 || !isAll) return false;
    innerOf(terminal)._inputHandler.eraseInDisplay({ params: [2] });
    return true;
  });
}
