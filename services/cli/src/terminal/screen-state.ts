/** The changes of a remote program to the local terminal that the shell which follows must not meet. */

// oxlint-disable-next-line no-control-regex -- the sequences begin with the escape character
const modes = /\x1b\[\?([0-9;]+)([hl])/g;
/** Longer sequences that are cut by the end of a chunk are not found. */
const carriedCharacters = 24;
const alternateModes: ReadonlySet<string> = new Set(["47", "1047", "1049"]);

/** Attributes, margins, character set, origin, wrap, cursor keys, mouse, focus, paste and the visible cursor. */
const plainModes =
  "\x1b[0m\x1b(B\x0f\x1b[?6l\x1b[?7h\x1b[?1l\x1b>\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l" +
  "\x1b[?1004l\x1b[?2004l\x1b[?25h\x1b[4l";

export class ScreenState {
  #carried = "";
  #isAlternate = false;
  #hasOutput = false;

  read(output: Uint8Array): void {
    this.#hasOutput = true;
    const text = this.#carried + Buffer.from(output).toString("latin1");
    for (const [, parameters = "", verb] of text.matchAll(modes)) {
      if (parameters.split(";").some((mode) => alternateModes.has(mode))) {
        this.#isAlternate = verb === "h";
      }
    }
    const open = text.lastIndexOf("\x1b");
    const isCut = open !== -1 && text.length - open < carriedCharacters;
    this.#carried = isCut ? text.slice(open) : "";
  }

  /** Returns the sequences that give back an ordinary terminal, with the cursor at the start of a line. */
  restoring(): string {
    if (!this.#hasOutput) return "";
    return `${this.#isAlternate ? "\x1b[?1049l" : ""}\x1b7\x1b[r\x1b8${plainModes}\r\n`;
  }

  /** Returns the sequences that empty the terminal; what it showed before the first time stays in its scrollback. */
  emptying(rows: number): string {
    const kept = this.#hasOutput ? "" : "\n".repeat(rows);
    const state = this.restoring().trimEnd();
    this.#isAlternate = false;
    this.#hasOutput = true;
    return `${kept}${state}\x1b[H\x1b[2J`;
  }
}
