/** The syntax tree and the parser of expressions over hyperparameters. */
import { ExpressionError, type Token, tokensOf } from "./tokens.ts";

export type ArithmeticOperator = "+" | "-" | "*" | "/" | "//" | "%" | "**";
export type ComparisonOperator = "<" | "<=" | ">" | ">=" | "==" | "!=" | "in" | "not in";

export const expressionFunctions = {
  abs: [1, 1],
  ceil: [1, 1],
  exp: [1, 1],
  floor: [1, 1],
  log: [1, 1],
  max: [1, 100],
  min: [1, 100],
  round: [1, 1],
  sqrt: [1, 1],
} as const satisfies Readonly<Record<string, readonly [least: number, most: number]>>;
export type ExpressionFunction = keyof typeof expressionFunctions;

export type Expression = { readonly column: number } & (
  | { readonly kind: "literal"; readonly value: number | string | boolean | null }
  | { readonly kind: "list"; readonly items: readonly Expression[] }
  /** A hyperparameter, by the path of its keys. */
  | { readonly kind: "name"; readonly keys: readonly string[] }
  | { readonly kind: "negative"; readonly operand: Expression }
  | { readonly kind: "not"; readonly operand: Expression }
  | {
      readonly kind: "arithmetic";
      readonly operator: ArithmeticOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  /** A chain such as `a < b <= c`: each operator compares two neighbours. */
  | {
      readonly kind: "comparison";
      readonly operands: readonly Expression[];
      readonly operators: readonly ComparisonOperator[];
    }
  | {
      readonly kind: "logic";
      readonly operator: "and" | "or";
      readonly operands: readonly Expression[];
    }
  | {
      readonly kind: "call";
      readonly name: ExpressionFunction;
      readonly operands: readonly Expression[];
    }
);

/** Limits for an expression: longer or deeper ones are unreadable. */
const CHARS_MAX = 2_000;
const DEPTH_MAX = 50;

/**
 * Parses an expression; throws an `ExpressionError`. Operators by increasing precedence: `or`, `and`, `not`,
 * comparisons (which chain), `+ -`, `* / // %`, signs, `**`, calls and names: Python's order. `&&`, `||` and `!` are
 * accepted too.
 */
export function parseExpression(source: string): Expression {
  if (source.length > CHARS_MAX) {
    throw new ExpressionError(CHARS_MAX + 1, `is longer than ${CHARS_MAX} characters`);
  }
  return new Reader(tokensOf(source)).whole();
}

const comparisons: readonly string[] = ["<", "<=", ">", ">=", "==", "!="];
const constants: Readonly<Record<string, boolean | null>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  null: null,
  None: null,
};

class Reader {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): Expression {
    if (this.#peek().kind === "end") throw new ExpressionError(1, "is empty");
    const expression = this.#any();
    const rest = this.#peek();
    if (rest.kind !== "end") {
      throw new ExpressionError(rest.column, `has ${shown(rest)} where it should have ended`);
    }
    return expression;
  }

  #any(): Expression {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) {
      throw new ExpressionError(this.#peek().column, `is nested more than ${DEPTH_MAX} deep`);
    }
    const expression = this.#logic("or", "||", () =>
      this.#logic("and", "&&", () => this.#negated()),
    );
    this.#depth -= 1;
    return expression;
  }

  #logic(operator: "and" | "or", sign: string, operand: () => Expression): Expression {
    const { column } = this.#peek();
    const operands = [operand()];
    while (this.#took(operator) || this.#took(sign)) operands.push(operand());
    const [first] = operands;
    return operands.length === 1 && first !== undefined
      ? first
      : { kind: "logic", operator, operands, column };
  }

  #negated(): Expression {
    const { column } = this.#peek();
    let negations = 0;
    while (this.#took("not") || this.#took("!")) negations += 1;
    const operand = this.#comparison();
    if (negations === 0) return operand;
    const once: Expression = { kind: "not", operand, column };
    return negations % 2 === 1 ? once : { kind: "not", operand: once, column };
  }

  #comparison(): Expression {
    const { column } = this.#peek();
    const operands = [this.#sum()];
    const operators: ComparisonOperator[] = [];
    for (let operator = this.#comparing(); operator !== null; operator = this.#comparing()) {
      operators.push(operator);
      operands.push(this.#sum());
    }
    const [first] = operands;
    return operators.length === 0 && first !== undefined
      ? first
      : { kind: "comparison", operands, operators, column };
  }

  #comparing(): ComparisonOperator | null {
    const { kind, text } = this.#peek();
    if (kind === "sign" && comparisons.includes(text)) {
      this.#next += 1;
      return text as ComparisonOperator;
    }
    if (this.#took("in")) return "in";
    if (kind !== "word" || text !== "not" || this.#peek(1).text !== "in") return null;
    this.#next += 2;
    return "not in";
  }

  #sum(): Expression {
    return this.#arithmetic(["+", "-"], () =>
      this.#arithmetic(["*", "/", "//", "%"], () => this.#signed()),
    );
  }

  #arithmetic(operators: readonly string[], operand: () => Expression): Expression {
    let left = operand();
    for (;;) {
      const { kind, text, column } = this.#peek();
      if (kind !== "sign" || !operators.includes(text)) return left;
      this.#next += 1;
      const operator = text as ArithmeticOperator;
      left = { kind: "arithmetic", operator, left, right: operand(), column };
    }
  }

  #signed(): Expression {
    const { column } = this.#peek();
    if (this.#took("+")) return this.#signedDeeper();
    if (!this.#took("-")) return this.#power();
    return { kind: "negative", operand: this.#signedDeeper(), column };
  }

  #signedDeeper(): Expression {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) {
      throw new ExpressionError(this.#peek().column, `is nested more than ${DEPTH_MAX} deep`);
    }
    const operand = this.#signed();
    this.#depth -= 1;
    return operand;
  }

  #power(): Expression {
    const left = this.#primary();
    const { column } = this.#peek();
    if (!this.#took("**")) return left;
    return {
      kind: "arithmetic",
      operator: "**",
      left,
      right: this.#signedDeeper(),
      column,
    };
  }

  #primary(): Expression {
    const token = this.#peek();
    const { kind, text, column } = token;
    this.#next += 1;
    if (kind === "number") return { kind: "literal", value: Number(text), column };
    if (kind === "text") return { kind: "literal", value: text, column };
    if (kind === "name") return this.#peek().text === "(" ? this.#call(token) : this.#name(token);
    if (kind === "word" && Object.hasOwn(constants, text)) {
      return { kind: "literal", value: constants[text] ?? null, column };
    }
    if (kind === "sign" && text === "(") {
      const inside = this.#any();
      this.#expect(")", column);
      return inside;
    }
    if (kind === "sign" && text === "[") {
      return { kind: "list", items: this.#items("]", column), column };
    }
    const found = kind === "end" ? "ends" : `has ${shown(token)}`;
    throw new ExpressionError(column, `${found} where a value is expected`);
  }

  #name({ text, column }: Token): Expression {
    const keys = [text];
    while (this.#took(".")) {
      const key = this.#peek();
      if (key.kind !== "name" && key.kind !== "word") {
        throw new ExpressionError(key.column, "has no name after the dot");
      }
      this.#next += 1;
      keys.push(key.text);
    }
    return { kind: "name", keys, column };
  }

  #call({ text, column }: Token): Expression {
    const known = Object.keys(expressionFunctions);
    if (!known.includes(text)) {
      throw new ExpressionError(
        column,
        `calls ${text}, which is not one of the functions ${known.join(", ")}`,
      );
    }
    const name = text as ExpressionFunction;
    const open = this.#peek().column;
    this.#next += 1;
    const operands = this.#items(")", open);
    const [least, most] = expressionFunctions[name];
    if (operands.length < least || operands.length > most) {
      const wanted = most === 1 ? "one value" : "at least one value";
      throw new ExpressionError(
        column,
        `gives ${text} ${operands.length} values; it takes ${wanted}`,
      );
    }
    return { kind: "call", name, operands, column };
  }

  #items(close: string, open: number): Expression[] {
    const items: Expression[] = [];
    if (this.#took(close)) return items;
    do items.push(this.#any());
    while (this.#took(","));
    this.#expect(close, open);
    return items;
  }

  #expect(close: string, open: number): void {
    const token = this.#peek();
    if (this.#took(close)) return;
    const found = token.kind === "end" ? "ends" : `has ${shown(token)}`;
    throw new ExpressionError(
      token.column,
      `${found} where the bracket of column ${open} should close`,
    );
  }

  #peek(ahead = 0): Token {
    return this.#tokens[this.#next + ahead] ?? { kind: "end", text: "", column: 1 };
  }

  /** Consumes a sign or word if it is the next token; a quoted name is neither. */
  #took(text: string): boolean {
    const token = this.#peek();
    const taken = (token.kind === "sign" || token.kind === "word") && token.text === text;
    if (taken) this.#next += 1;
    return taken;
  }
}

function shown({ kind, text }: Token): string {
  return kind === "text" ? JSON.stringify(text) : `"${text}"`;
}
