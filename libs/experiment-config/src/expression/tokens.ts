/** Splits an expression's text into words, numbers, texts, names and signs, each with its column. */

export type Token = {
  readonly kind: "number" | "text" | "name" | "word" | "sign" | "end";
  /** The source text; for a text or a quoted name, the part inside the quotes. */
  readonly text: string;
  /** Counted from 1. */
  readonly column: number;
};

/** A syntax error: its message completes a sentence, and `column` says where it is. */
export class ExpressionError extends Error {
  readonly column: number;

  constructor(column: number, message: string) {
    super(message);
    this.column = column;
  }
}

/** Reserved words: a hyperparameter with such a name is written in backticks. */
const words = new Set(["and", "or", "not", "in", "true", "false", "null", "True", "False", "None"]);

const patterns: readonly (readonly [Token["kind"] | "blank", RegExp])[] = [
  ["blank", /\s+/y],
  ["number", /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y],
  ["name", /[A-Za-z_][A-Za-z0-9_]*/y],
  ["name", /`[^`]+`/y],
  ["text", /"[^"]*"|'[^']*'/y],
  ["sign", /\*\*|\/\/|<=|>=|==|!=|&&|\|\||[-+*/%<>()[\],.!]/y],
];

export function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < source.length) {
    const [kind, written] = matchAt(source, at);
    if (kind !== "blank") tokens.push(tokenOf(kind, written, at + 1));
    at += written.length;
  }
  return [...tokens, { kind: "end", text: "", column: source.length + 1 }];
}

function matchAt(source: string, at: number): readonly [Token["kind"] | "blank", string] {
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at;
    const written = pattern.exec(source)?.[0];
    if (written !== undefined) return [kind, written];
  }
  const sign = source[at] ?? "";
  if (sign === "=") throw new ExpressionError(at + 1, 'has "=" where only "==" compares');
  if (`"'\``.includes(sign)) throw new ExpressionError(at + 1, `has a ${sign} that is not closed`);
  throw new ExpressionError(at + 1, `has ${JSON.stringify(sign)}, which means nothing here`);
}

function tokenOf(kind: Token["kind"], written: string, column: number): Token {
  const quoted = kind === "text" || written.startsWith("`");
  const text = quoted ? written.slice(1, -1) : written;
  return { kind: kind === "name" && !quoted && words.has(text) ? "word" : kind, text, column };
}
