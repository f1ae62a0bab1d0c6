/**
 * Splits a line of a terminal into spans of styled text.
 *
 * Colours and styles are read (SGR of ECMA-48, with the 256-colour and 24-bit forms). Every other escape sequence is
 * removed, because a page has no cursor to move. A control character is shown as its picture, and characters that
 * change the direction of text as U+FFFD, so that a line cannot disguise its content. Each line starts without a style.
 * The time is linear in the length of the text.
 */
import { paletteColour } from "./colours.ts";

/** A style. Colours are 0xRRGGBB; null is the page's colour. */
export type Style = {
  readonly foreground: number | null;
  readonly background: number | null;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly strike: boolean;
  readonly inverse: boolean;
};

export type Span = { readonly text: string; readonly style: Style };

export const plainStyle: Style = {
  foreground: null,
  background: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  strike: false,
  inverse: false,
};

/**
 * After this number of spans the style stays the same: a line of only escapes must not create thousands of elements.
 */
const spansMax = 500;

export function parseAnsi(text: string): readonly Span[] {
  const spans: { text: string; style: Style }[] = [];
  let style = plainStyle;
  for (const token of tokensOf(text)) {
    if (token.kind === "style") {
      if (spans.length < spansMax) style = withParameters(style, token.parameters);
      continue;
    }
    const last = spans.at(-1);
    if (last !== undefined && sameStyle(last.style, style)) last.text += token.text;
    else spans.push({ text: token.text, style });
  }
  return spans;
}

type Token =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "style"; readonly parameters: string };

// Characters with a meaning to a terminal: control characters but the tab, and those that turn the direction of text.
// oxlint-disable-next-line no-control-regex — the control characters are the subject here
const special = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
// oxlint-disable-next-line no-control-regex — the expression reads escape sequences
const controlSequence = /(?:\u001b\[|\u009b)([0-?]*)[ -/]*([@-~])/y;
// oxlint-disable-next-line no-control-regex — the expression reads escape sequences
const stringStart = /\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f]/y;
// oxlint-disable-next-line no-control-regex — the expression reads escape sequences
const stringEnd = /\u0007|\u001b\\|\u009c/g;
// oxlint-disable-next-line no-control-regex — the expression reads escape sequences
const shortSequence = /\u001b[ -/]*[0-~]/y;

function* tokensOf(text: string): Generator<Token> {
  let at = 0;
  let endsOfStrings = true;
  while (at < text.length) {
    special.lastIndex = at;
    const found = special.exec(text)?.index ?? text.length;
    if (found > at) yield { kind: "text", text: text.slice(at, found) };
    if (found === text.length) return;
    const control = matchAt(controlSequence, text, found);
    if (control !== null) {
      // Only sequences that end in "m" are styles; a private one ("?25m") has another meaning.
      if (control[2] === "m" && /^[\d;:]*$/.test(control[1] ?? "")) {
        yield { kind: "style", parameters: control[1] ?? "" };
      }
      at = found + control[0].length;
      continue;
    }
    const string = matchAt(stringStart, text, found);
    if (string !== null) {
      stringEnd.lastIndex = found + string[0].length;
      const end: RegExpExecArray | null = endsOfStrings ? stringEnd.exec(text) : null;
      // A control string without an end loses only its start mark; the text after the mark is shown.
      endsOfStrings = end !== null;
      at = end === null ? found + string[0].length : end.index + end[0].length;
      continue;
    }
    const short = matchAt(shortSequence, text, found);
    if (short !== null) {
      at = found + short[0].length;
      continue;
    }
    yield { kind: "text", text: pictureOf(text.charCodeAt(found)) };
    at = found + 1;
  }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function pictureOf(code: number): string {
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return "\ufffd";
}

function withParameters(before: Style, parameters: string): Style {
  let style = before;
  const codes = parameters.split(";");
  for (let at = 0; at < codes.length; ) {
    const code = codes[at] ?? "";
    const [head = "", ...rest] = code.split(":");
    const number = Number(head);
    if (number === 38 || number === 48 || number === 58) {
      const own = rest.length > 0;
      const { colour, taken } = own ? colonColour(rest) : semicolonColour(codes.slice(at + 1));
      if (colour !== null && number === 38) style = { ...style, foreground: colour };
      if (colour !== null && number === 48) style = { ...style, background: colour };
      at += own ? 1 : 1 + taken;
    } else {
      style = withCode(style, number, rest[0]);
      at += 1;
    }
  }
  return style;
}

type Read = { readonly colour: number | null; readonly taken: number };

/** Reads 38;5;n and 38;2;r;g;b. Returns the colour and the number of codes. */
function semicolonColour([kind, ...values]: readonly string[]): Read {
  if (kind === "5") return { colour: indexed(values[0]), taken: 2 };
  if (kind === "2") return { colour: direct(values.slice(0, 3)), taken: 4 };
  return { colour: null, taken: 1 };
}

/** Reads 38:5:n, 38:2:r:g:b, and 38:2:space:r:g:b. */
function colonColour([kind, ...values]: readonly string[]): Read {
  if (kind === "5") return { colour: indexed(values[0]), taken: 0 };
  if (kind !== "2") return { colour: null, taken: 0 };
  return { colour: direct(values.length > 3 ? values.slice(1, 4) : values), taken: 0 };
}

function indexed(text: string | undefined): number | null {
  const index = byteOf(text);
  return index === null ? null : paletteColour(index);
}

function direct(texts: readonly string[]): number | null {
  const [red = null, green = null, blue = null] = texts.map(byteOf);
  return red === null || green === null || blue === null ? null : (red << 16) | (green << 8) | blue;
}

function byteOf(text: string | undefined): number | null {
  const value = Number(text === undefined || text === "" ? "0" : text);
  return Number.isInteger(value) && value >= 0 && value <= 255 ? value : null;
}

function withCode(style: Style, code: number, detail: string | undefined): Style {
  if (code === 0) return plainStyle;
  if (code >= 30 && code <= 37) return { ...style, foreground: paletteColour(code - 30) };
  if (code >= 90 && code <= 97) return { ...style, foreground: paletteColour(code - 82) };
  if (code >= 40 && code <= 47) return { ...style, background: paletteColour(code - 40) };
  if (code >= 100 && code <= 107) return { ...style, background: paletteColour(code - 92) };
  if (code === 4 || code === 21) return { ...style, underline: detail !== "0" };
  return { ...style, ...flags.get(code) };
}

const flags: ReadonlyMap<number, Partial<Style>> = new Map([
  [1, { bold: true }],
  [2, { dim: true }],
  [3, { italic: true }],
  [7, { inverse: true }],
  [9, { strike: true }],
  [22, { bold: false, dim: false }],
  [23, { italic: false }],
  [24, { underline: false }],
  [27, { inverse: false }],
  [29, { strike: false }],
  [39, { foreground: null }],
  [49, { background: null }],
]);

function sameStyle(one: Style, other: Style): boolean {
  return (
    one === other ||
    (Object.keys(plainStyle) as (keyof Style)[]).every((key) => one[key] === other[key])
  );
}
