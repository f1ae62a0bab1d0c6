/** The screens of terminals, for comparisons. */
import headless from "@xterm/headless";
import { type FromHolder, type Size } from "@trainyard/terminal";
import { limits } from "../limits.ts";
import { eraseWithoutError } from "../screens/followed-screen.ts";
import { innerOf } from "../screens/serialize.ts";

export type Shown = {
  readonly buffer: string;
  readonly cursor: readonly [number, number];
  readonly isCursorHidden: boolean;
  readonly rows: readonly string[];
};

/** The rows of the screen, each with its characters and, where they change, their colours and styles. */
export function shownBy(terminal: headless.Terminal): Shown {
  const { active } = terminal.buffer;
  const rows = Array.from({ length: terminal.rows }, (_, y) => rowOf(terminal, active.baseY + y));
  return {
    buffer: active.type,
    cursor: [active.cursorX, active.cursorY],
    isCursorHidden: innerOf(terminal).coreService.isCursorHidden,
    rows,
  };
}

function rowOf(terminal: headless.Terminal, y: number): string {
  const line = terminal.buffer.active.getLine(y);
  let text = "";
  let style = "";
  for (let x = 0; x < terminal.cols; x += 1) {
    const cell = line?.getCell(x);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const isBlank = cell.getChars().trim() === "";
    // The first ones do not show in a blank cell.
    const flags = [
      !isBlank && cell.isBold(),
      !isBlank && cell.isDim(),
      !isBlank && cell.isItalic(),
      cell.isUnderline(),
      cell.isInverse(),
      cell.isInvisible(),
    ].map((flag) => (flag === 0 || flag === false ? "0" : "1"));
    // The same colour has two modes among the first 16.
    const foreground = isBlank ? "-1" : `${cell.isFgRGB() ? "#" : ""}${cell.getFgColor()}`;
    const background = `${cell.isBgRGB() ? "#" : ""}${cell.getBgColor()}`;
    const next = `${flags.join("")}/${foreground},${background}`;
    const plain = "000000/-1,-1";
    if (next !== style && !(style === "" && next === plain)) text += `{${next}}`;
    style = next;
    text += cell.getChars() === "" ? " " : cell.getChars();
  }
  return text.trimEnd();
}

export function newTerminal({ columns, rows }: Size): headless.Terminal {
  const scrollback = limits.screenScrollbackLines;
  const terminal = new headless.Terminal({
    cols: columns,
    rows,
    scrollback,
    allowProposedApi: true,
  });
  eraseWithoutError(terminal);
  return terminal;
}

export function write(terminal: headless.Terminal, bytes: Uint8Array | string): Promise<void> {
  return new Promise((resolve) => terminal.write(bytes, resolve));
}

/** A terminal that shows what a viewer has received. */
export class ViewersTerminal {
  readonly #terminal = newTerminal({ columns: 80, rows: 24 });
  readonly #messages: readonly FromHolder[];
  #read = 0;

  constructor({ messages }: { readonly messages: readonly FromHolder[] }) {
    this.#messages = messages;
  }

  async shown(): Promise<Shown> {
    for (; this.#read < this.#messages.length; this.#read += 1) {
      const message = this.#messages[this.#read];
      if (message?.type === "size") this.#terminal.resize(message.columns, message.rows);
      if (message?.type === "screen") this.#terminal.reset();
      if (message?.type === "screen" || message?.type === "output") {
        await write(this.#terminal, message.bytes);
      }
    }
    return shownBy(this.#terminal);
  }
}
