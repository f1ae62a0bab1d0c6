/**
 * Filters of lists, as people write them: `state = ACTIVE and (hparams.lr < 1e-3 or label = prod) and created_at >
 * -7d`, `resnet not archived = true`. This file reads the text; `conditions.ts` knows the fields of a list.
 *
 *     filter     = and { "or" and }
 *     and        = not { [ "and" ] not }
 *     not        = "not" not | "(" filter ")" | comparison | words
 *     comparison = field ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) value  |  field ":" ( "*" | value )
 *     words      = a word, or a text in double quotes
 *
 * A field has dots, and parts with other characters in double quotes: `metrics."top 1"`. A value is a word or a text in
 * double quotes, which is JSON.
 */
import { unquoted } from "../quoted.ts";

export type Operator = "=" | "!=" | "<" | "<=" | ">" | ">=" | ":";

/** The place of a term in the filter's text: its column, from 1, and its source text. */
type Placed = { readonly column: number; readonly source: string };

export type Comparison = Placed & {
  readonly kind: "comparison";
  readonly field: string;
  readonly operator: Operator;
  readonly value: string;
  /** Whether the value was quoted: then it is a text, whatever it contains. */
  readonly quoted: boolean;
};

export type Words = Placed & { readonly kind: "words"; readonly text: string };

/** A condition from a search parameter. The filter language has no such operator, because no index supports it. */
export type Contains = { readonly kind: "contains"; readonly field: string; readonly text: string };

export type Term = Comparison | Words;

export type Filter =
  | { readonly kind: "and" | "or"; readonly of: readonly Filter[] }
  | { readonly kind: "not"; readonly of: Filter }
  | Contains
  | Term;

/** Makes a condition from a parameter of the request; it is part of no filter text. */
export const comparison = (field: string, operator: Operator, value: string): Comparison => ({
  kind: "comparison",
  field,
  operator,
  value,
  quoted: true,
  column: 1,
  source: `${field} ${operator} ${value}`,
});

/** A filter that cannot be read; the message is a sentence for the person who wrote it. */
export class FilterError extends Error {
  override readonly name = "FilterError";

  constructor(column: number, detail: string) {
    super(`filter, column ${column}: ${detail}`);
  }
}

const charactersMax = 4_000;
const termsMax = 50;
const depthMax = 20;

/** Parses a filter; null if it is empty. Throws a FilterError. */
export function readFilter(text: string): Filter | null {
  if (text.length > charactersMax) {
    const detail = `the filter has ${text.length} characters; the maximum is ${charactersMax}`;
    throw new FilterError(charactersMax + 1, detail);
  }
  const reader = new Reader(text);
  if (reader.atEnd()) return null;
  const filter = reader.or(0);
  if (!reader.atEnd()) throw reader.error(`${reader.rest()} follows where the filter should end`);
  return filter;
}

export const contains = (field: string, text: string): Contains => ({
  kind: "contains",
  field,
  text,
});

/** Returns all terms of a filter, from left to right. */
export function termsOf(filter: Filter): readonly Term[] {
  switch (filter.kind) {
    case "and":
    case "or":
      return filter.of.flatMap(termsOf);
    case "not":
      return termsOf(filter.of);
    case "contains":
      return [];
    case "comparison":
    case "words":
      return [filter];
  }
}

const fieldPattern = /(?:[\w/-]+|"(?:[^"\\]|\\.)*")(?:\.(?:[\w/-]+|"(?:[^"\\]|\\.)*"))*/y;
const operatorPattern = /(==|=|!=|<=|>=|<|>|:)/y;
const valuePattern = /"(?:[^"\\]|\\.)*"|[^\s()"]+/y;
const wordPattern = /"(?:[^"\\]|\\.)*"|[^\s()"=!<>:]+/y;

class Reader {
  readonly #text: string;
  #at = 0;
  #terms = 0;

  constructor(text: string) {
    this.#text = text;
  }

  or(depth: number): Filter {
    const of = [this.#and(depth)];
    while (this.#keyword("or")) of.push(this.#and(depth));
    return joined("or", of);
  }

  #and(depth: number): Filter {
    const of = [this.#not(depth)];
    for (;;) {
      const joinedByWord = this.#keyword("and");
      if (!joinedByWord && (this.atEnd() || this.#next() === ")" || this.#peek("or"))) break;
      of.push(this.#not(depth));
    }
    return joined("and", of);
  }

  #not(depth: number): Filter {
    if (depth > depthMax) throw this.error(`the filter nests deeper than ${depthMax} levels`);
    if (this.#keyword("not")) return { kind: "not", of: this.#not(depth + 1) };
    if (this.#next() !== "(") return this.#term();
    const opened = this.#at + 1;
    this.#at += 1;
    const filter = this.or(depth + 1);
    if (this.#next() !== ")") throw new FilterError(opened, 'this "(" is not closed');
    this.#at += 1;
    return filter;
  }

  #term(): Term {
    if (this.atEnd()) throw this.error("a condition is missing");
    this.#terms += 1;
    if (this.#terms > termsMax) throw this.error(`the filter has more than ${termsMax} conditions`);
    const start = this.#at;
    const placed = () => ({ column: start + 1, source: this.#text.slice(start, this.#at) });
    const field = this.#match(fieldPattern);
    this.#skip();
    const operator = field === null ? null : this.#match(operatorPattern);
    if (field === null || operator === null) {
      this.#at = start;
      const word = this.#match(wordPattern);
      if (word === null) throw this.error(`${this.rest()} is neither a field nor a word`);
      return { kind: "words", text: this.#unquoted(word, start), ...placed() };
    }
    this.#skip();
    const valueAt = this.#at;
    const raw = this.#match(valuePattern);
    if (raw === null) {
      throw this.error(`a value is missing behind ${field} ${operator}; an empty text is ""`);
    }
    const value = this.#unquoted(raw, valueAt);
    return {
      kind: "comparison",
      field: this.#fieldName(field, start),
      operator: (operator === "==" ? "=" : operator) as Operator,
      value,
      quoted: raw.startsWith('"'),
      ...placed(),
    };
  }

  #fieldName(raw: string, start: number): string {
    return raw.replaceAll(/"(?:[^"\\]|\\.)*"/g, (part) => this.#unquoted(part, start));
  }

  #unquoted(raw: string, start: number): string {
    const text = unquoted(raw);
    if (text === null) throw new FilterError(start + 1, `${shown(raw)} is not a JSON string`);
    return text;
  }

  #keyword(word: string): boolean {
    if (!this.#peek(word)) return false;
    this.#at += word.length;
    return true;
  }

  /** Whether the next token is the keyword. Before an operator it is a field of that name. */
  #peek(word: string): boolean {
    this.#skip();
    const found = this.#text.slice(this.#at, this.#at + word.length).toLowerCase();
    return (
      found === word &&
      /^(?:\s+(?![=<>:]|!=)|[("]|$)/.test(this.#text.slice(this.#at + word.length))
    );
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const [found = null] = pattern.exec(this.#text) ?? [];
    if (found !== null) this.#at += found.length;
    return found;
  }

  #skip(): void {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at += 1;
  }

  #next(): string {
    this.#skip();
    return this.#text[this.#at] ?? "";
  }

  atEnd(): boolean {
    return this.#next() === "";
  }

  rest(): string {
    return shown(this.#text.slice(this.#at));
  }

  error(detail: string): FilterError {
    return new FilterError(this.#at + 1, detail);
  }
}

const joined = (kind: "and" | "or", of: readonly Filter[]): Filter => {
  const [only] = of;
  return of.length === 1 && only !== undefined ? only : { kind, of };
};

const shown = (text: string): string => JSON.stringify(text.slice(0, 60));
