/**
 * Writes the state of a terminal emulator (xterm.js) as bytes that make the same state in an emptied terminal of the
 * same size: rows with their colours, cursor, saved cursor, margins, modes and character set, of both screens. The
 * addon of xterm.js for this leaves out margins, drawing characters, a hidden cursor and blank rows with a background,
 * and puts characters into rows that it cannot wrap.
 *
 * Not kept: links, tab stops, the style of the cursor and of underlines, and that a row continues the row above where
 * that row has a free column, or the next begins with a background; such rows are not joined by a later change of size.
 */
import type headless from "@xterm/headless";

type Style = Pick<
  headless.IBufferCell,
  | "isBold"
  | "isDim"
  | "isItalic"
  | "isUnderline"
  | "isBlink"
  | "isInverse"
  | "isInvisible"
  | "isStrikethrough"
  | "isOverline"
  | "isFgRGB"
  | "isFgPalette"
  | "getFgColor"
  | "isBgRGB"
  | "isBgPalette"
  | "getBgColor"
>;

/** The fields of a screen of xterm.js 6.0.0 that its API lacks; lines are counted from 0. */
type InnerBuffer = {
  readonly scrollTop: number;
  readonly scrollBottom: number;
  /** The cursor that ESC 7 has saved. */
  readonly savedX: number;
  readonly savedY: number;
  readonly savedCurAttrData: Style;
  readonly ybase: number;
};

type Inner = {
  readonly buffers: { readonly normal: InnerBuffer; readonly active: InnerBuffer };
  readonly coreService: { readonly isCursorHidden: boolean };
  readonly coreMouseService: { readonly activeEncoding: string };
  readonly _charsetService: { readonly charset: Readonly<Record<string, string>> | undefined };
  readonly _inputHandler: {
    readonly _curAttrData: Style;
    eraseInDisplay(parameters: { readonly params: readonly number[] }): boolean;
  };
  writeSync(bytes: Uint8Array): void;
};

export function innerOf(terminal: headless.Terminal): Inner {
  return (terminal as unknown as { readonly _core: Inner })._core;
}

/** `scrollback` is the number of rows above the screen, at most. */
export function serialized(terminal: headless.Terminal, scrollback: number): string {
  const { normal, active } = terminal.buffer;
  const inner = innerOf(terminal);
  const parts = [rowsOf(terminal, normal, Math.max(0, normal.baseY - scrollback))];
  if (active.type === "alternate") {
    // 1047 does not save the cursor, which a program that leaves the second screen gets back.
    parts.push(saved(inner.buffers.normal, 0), "\x1b[0m\x1b[?1047h\x1b[H");
    parts.push(rowsOf(terminal, active, active.baseY));
  }
  const { scrollTop, scrollBottom } = inner.buffers.active;
  const { originMode } = terminal.modes;
  const isRegion = scrollTop !== 0 || scrollBottom !== terminal.rows - 1;
  const top = originMode ? scrollTop : 0;
  return [
    ...parts,
    modesOf(terminal),
    isRegion ? `\x1b[${scrollTop + 1};${scrollBottom + 1}r` : "",
    saved(inner.buffers.active, top),
    at(active.cursorX, active.cursorY - top),
    `\x1b[${styleOf(inner._inputHandler._curAttrData)}m`,
    inner.coreService.isCursorHidden ? "\x1b[?25l" : "",
    inner._charsetService.charset?.["q"] === undefined ? "" : "\x1b(0",
  ].join("");
}

const at = (x: number, y: number): string => `\x1b[${Math.max(0, y) + 1};${x + 1}H`;

function saved({ savedX, savedY, savedCurAttrData, ybase }: InnerBuffer, top: number): string {
  return `${at(savedX, savedY - ybase - top)}\x1b[${styleOf(savedCurAttrData)}m\x1b7`;
}

function rowsOf(terminal: headless.Terminal, buffer: headless.IBuffer, start: number): string {
  const end = buffer.baseY + terminal.rows;
  const rows: string[] = [];
  for (let y = start; y < end; y += 1) {
    const row = rowOf(terminal.cols, buffer, y);
    const next = y + 1 < end ? buffer.getLine(y + 1) : undefined;
    rows.push(row.text, next === undefined || joins(row.isFull, next) ? "" : "\x1b[0m\r\n");
  }
  return `${rows.join("")}\x1b[0m`;
}

/** Whether the first character of the next row, written behind the end of a full one, gets its place by itself. */
function joins(isFull: boolean, next: headless.IBufferLine): boolean {
  const first = next.getCell(0);
  return isFull && next.isWrapped && first?.getChars() !== "" && first?.isBgDefault() === true;
}

/** A row is full if a character is in its last column. */
function rowOf(columns: number, buffer: headless.IBuffer, y: number) {
  const line = buffer.getLine(y);
  let text = "\x1b[0m";
  let style = "0";
  let isFull = false;
  /** The columns to pass over before the next character. */
  let free = 0;
  for (let x = 0; x < columns; x += 1) {
    const cell = line?.getCell(x);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const chars = cell.getChars();
    const next = chars === "" && cell.isBgDefault() ? style : styleOf(cell);
    if (next !== style) text += passed(free) + `\x1b[${next}m`;
    if (next !== style) free = 0;
    style = next;
    if (chars === "") {
      // A blank column has a background and nothing else.
      if (!cell.isBgDefault()) text += `${passed(free)}\x1b[X`;
      free = cell.isBgDefault() ? free + 1 : 1;
    } else {
      text += passed(free) + chars;
      free = 0;
      isFull = x + cell.getWidth() >= columns;
    }
  }
  return { text, isFull };
}

const passed = (columns: number): string => (columns === 0 ? "" : `\x1b[${columns}C`);

/** The parameters of SGR, from the default on. */
function styleOf(style: Style): string {
  const flags: readonly (readonly [number, number])[] = [
    [style.isBold(), 1],
    [style.isDim(), 2],
    [style.isItalic(), 3],
    [style.isUnderline(), 4],
    [style.isBlink(), 5],
    [style.isInverse(), 7],
    [style.isInvisible(), 8],
    [style.isStrikethrough(), 9],
    [style.isOverline(), 53],
  ];
  return [
    0,
    ...flags.flatMap(([isSet, parameter]) => (isSet === 0 ? [] : [parameter])),
    ...colour(3, style.isFgRGB(), style.isFgPalette(), style.getFgColor()),
    ...colour(4, style.isBgRGB(), style.isBgPalette(), style.getBgColor()),
  ].join(";");
}

/** `kind` is 3 for the foreground and 4 for the background. */
function colour(
  kind: number,
  isRgb: boolean | number,
  isPalette: boolean | number,
  value: number,
): readonly (number | string)[] {
  if (isRgb) return [`${kind}8`, 2, value >> 16, (value >> 8) & 0xff, value & 0xff];
  if (!isPalette) return [];
  if (value < 8) return [`${kind}${value}`];
  return value < 16 ? [kind * 10 + 52 + value] : [`${kind}8`, 5, value];
}

const mouseTracking = { none: "", x10: "\x1b[?9h", vt200: "\x1b[?1000h", drag: "\x1b[?1002h" };
const mouseEncodings: Readonly<Record<string, string>> = {
  SGR: "\x1b[?1006h",
  SGR_PIXELS: "\x1b[?1016h",
};

function modesOf(terminal: headless.Terminal): string {
  const { modes } = terminal;
  const mouse = modes.mouseTrackingMode;
  return [
    modes.applicationCursorKeysMode ? "\x1b[?1h" : "",
    modes.applicationKeypadMode ? "\x1b=" : "",
    modes.bracketedPasteMode ? "\x1b[?2004h" : "",
    modes.insertMode ? "\x1b[4h" : "",
    modes.originMode ? "\x1b[?6h" : "",
    modes.reverseWraparoundMode ? "\x1b[?45h" : "",
    modes.sendFocusMode ? "\x1b[?1004h" : "",
    modes.wraparoundMode ? "" : "\x1b[?7l",
    mouse === "any" ? "\x1b[?1003h" : mouseTracking[mouse],
    mouseEncodings[innerOf(terminal).coreMouseService.activeEncoding] ?? "",
  ].join("");
}
