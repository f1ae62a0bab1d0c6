/** Marks the search results in the spans of a line. */
import type { Span, Style } from "./ansi.ts";
import type { LogSearch } from "./log-search.ts";

/** A range from the first character up to, not including, the second. */
export type Range = readonly [from: number, to: number];

/** Returns the matches in a text, in order, without overlaps. */
export type Marker = (text: string) => readonly Range[];

const marksMax = 100;

export const noMarks: Marker = () => [];

/** Throws for an invalid regular expression. */
export async function markerOf({ q, by = "text" }: LogSearch): Promise<Marker> {
  if (q === undefined || q === "") return noMarks;
  if (by === "regex") return regexMarker(q);
  return by === "text" ? textMarker(q) : wordMarker(q);
}

function textMarker(wanted: string): Marker {
  return (text) => {
    const found: Range[] = [];
    let at = text.indexOf(wanted);
    while (at >= 0 && found.length < marksMax) {
      found.push([at, at + wanted.length]);
      at = text.indexOf(wanted, at + wanted.length);
    }
    return found;
  };
}

// A word as the logs service defines it.
const word = /[\p{L}\p{N}_]+/gu;

function wordMarker(wanted: string): Marker {
  const words = new Set(wanted.toLowerCase().match(word));
  return (text) =>
    [...text.matchAll(word)]
      .filter(([found]) => words.has(found.toLowerCase()))
      .slice(0, marksMax)
      .map(({ 0: found, index }) => [index, index + found.length]);
}

/** The same engine as in the server, so that the page has the same syntax and linear time. */
async function regexMarker(pattern: string): Promise<Marker> {
  const { RE2JS } = await import("re2js");
  const expression = RE2JS.compile(pattern);
  return (text) => {
    const found: Range[] = [];
    const matcher = expression.matcher(text);
    while (found.length < marksMax && matcher.find()) {
      if (matcher.end() > matcher.start()) found.push([matcher.start(), matcher.end()]);
    }
    return found;
  };
}

export type Piece = { readonly text: string; readonly style: Style; readonly isMarked: boolean };

/** Divides spans where a mark begins or ends. */
export function piecesOf(spans: readonly Span[], ranges: readonly Range[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let start = 0;
  let next = 0;
  for (const { text, style } of spans) {
    const end = start + text.length;
    for (let at = start; at < end; ) {
      while (next < ranges.length && (ranges[next]?.[1] ?? 0) <= at) next += 1;
      const [from, to] = ranges[next] ?? [end, end];
      const isMarked = from <= at;
      const until = Math.min(end, isMarked ? to : from);
      pieces.push({ text: text.slice(at - start, until - start), style, isMarked });
      at = until;
    }
    start = end;
  }
  return pieces;
}
