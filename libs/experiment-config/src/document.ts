/**
 * Reads YAML text into plain JSON and refuses every document that is ambiguous or could harm its reader: duplicate
 * keys, several documents, unknown tags, aliases that expand without bound or recursively, numbers that JSON cannot
 * write, integers that a double cannot represent, text that PostgreSQL cannot store, and the key `__proto__`. The
 * dialect is the YAML 1.2 core schema (`on` and `1:30` are text, `1e-4` is a number), with the merge key `<<` for
 * anchors.
 */
import { type FieldProblem, limits, utf8Bytes } from "@trainyard/kernel";
import {
  type Alias,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Pair,
  parseDocument,
  Scalar,
  visit,
  type YAMLError,
  type YAMLMap,
} from "yaml";
import { itemPath, type Json, type JsonObject, keyPath } from "./json.ts";
import { configLimits } from "./limits.ts";

export type ReadResult =
  | { readonly value: Json; readonly problems: readonly [] }
  | { readonly value: null; readonly problems: readonly FieldProblem[] };

type Problems = FieldProblem[];

/** Reads one YAML value. `at` is the path in problems that concern the whole value; empty for a document. */
export function readYaml(text: string, at = ""): ReadResult {
  const bytes = utf8Bytes(text);
  if (bytes > limits.configBytesMax) {
    const detail = `is ${bytes} bytes long; the limit is ${limits.configBytesMax} (put data beside the code, not in the configuration)`;
    return { value: null, problems: [{ path: at, detail }] };
  }
  if (opensTooDeep(text)) return { value: null, problems: [{ path: at, detail: TOO_DEEP }] };
  const lines = new LineCounter();
  const { document, targets } = compose(text, lines);
  const broken = [...document.errors, ...document.warnings];
  if (broken.length > 0) {
    const problems = broken.map((error) => ({ path: at, detail: syntaxDetail(error, lines) }));
    return { value: null, problems };
  }
  const reader = new Reader(targets);
  const value = reader.read(document.contents, at, 0);
  return reader.problems.length > 0
    ? { value: null, problems: reader.problems }
    : { value, problems: [] };
}

type Composed = { readonly document: Document.Parsed; readonly targets: AliasTargets };

function compose(text: string, lineCounter: LineCounter): Composed {
  const document = parseDocument(text, {
    version: "1.2",
    intAsBigInt: true,
    stringKeys: true,
    uniqueKeys: false,
    prettyErrors: false,
    // The level "silent" would also hide the error about a second document.
    logLevel: "error",
    lineCounter,
  });
  return { document, targets: aliasTargets(document) };
}

/**
 * Returns whether brackets, or `-` and `?` on one line, nest deeper than allowed. This check runs before composing,
 * which is recursive: ninety thousand brackets would take most of a second and overflow the stack. (Nesting by
 * indentation needs a quadratic amount of text; it is checked when the values are read.)
 */
function opensTooDeep(text: string): boolean {
  let flow = 0;
  let line = 0;
  let content = false;
  for (const token of new Lexer().lex(text)) {
    if (content) content = false;
    else if (token === SCALAR_FOLLOWS) content = true;
    else if (token === "[" || token === "{") flow += 1;
    else if (token === "]" || token === "}") flow -= 1;
    else if (token === "-" || token === "?") line += 1;
    else if (token.startsWith("\n") || token.startsWith("\r")) line = 0;
    if (flow > configLimits.documentDepthMax || line > configLimits.documentDepthMax) return true;
  }
  return false;
}

/** The lexer's control token before the text of a scalar. */
const SCALAR_FOLLOWS = "\u001f";

/** Replacements for the parser's messages that only programmers understand. */
const syntaxDetails: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: "a second document begins; one is expected",
  NON_STRING_KEY: "a key must be text, not a list or a mapping",
};

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

function syntaxDetail(error: YAMLError, lines: LineCounter): string {
  const { line, col } = lines.linePos(error.pos[0]);
  const what = syntaxDetails[error.code] ?? lowerFirst(error.message);
  return `line ${line}, column ${col}: ${what}`;
}

const TOO_DEEP = `is nested more than ${configLimits.documentDepthMax} levels deep, or contains itself through an alias`;

/** Stops reading a document that expands without bound; the problem has been reported. */
class Stop extends Error {}

class Reader {
  readonly problems: Problems = [];
  readonly #targets: AliasTargets;
  #values = 0;

  constructor(targets: AliasTargets) {
    this.#targets = targets;
  }

  read(node: unknown, path: string, depth: number): Json {
    try {
      return this.#value(node, path, depth);
    } catch (error) {
      if (error instanceof Stop) return null;
      throw error;
    }
  }

  #refuse(path: string, detail: string): null {
    this.problems.push({ path, detail });
    return null;
  }

  #value(node: unknown, path: string, depth: number): Json {
    this.#values += 1;
    if (this.#values > configLimits.documentValuesMax) {
      this.#refuse(
        path,
        `the document holds more than ${configLimits.documentValuesMax} values once its aliases are expanded`,
      );
      throw new Stop();
    }
    if (depth > configLimits.documentDepthMax) {
      this.#refuse(path, TOO_DEEP);
      throw new Stop();
    }
    if (isAlias(node)) {
      const target = this.#targets.get(node);
      if (target !== undefined) return this.#value(target, path, depth + 1);
      return this.#refuse(
        path,
        `refers to the anchor "${node.source}", which nothing before it defines`,
      );
    }
    if (isMap(node)) return this.#mapping(node, path, depth);
    if (isSeq(node)) {
      return node.items.map((item, index) => this.#value(item, itemPath(path, index), depth + 1));
    }
    return isScalar(node) ? this.#scalar(node, path) : null;
  }

  #mapping(node: YAMLMap, path: string, depth: number): JsonObject {
    const own: JsonObject = {};
    const merged: Pair[] = [];
    for (const pair of node.items) {
      if (isMergeKey(pair.key)) {
        merged.push(pair);
        continue;
      }
      const key = this.#key(pair.key, path);
      if (key === null) continue;
      const at = keyPath(path, key);
      if (Object.hasOwn(own, key)) this.#refuse(at, "is given twice in the same mapping");
      own[key] = this.#value(pair.value, at, depth + 1);
    }
    for (const pair of merged) this.#merge(own, pair.value, keyPath(path, "<<"), depth + 1);
    return own;
  }

  /**
   * Reads `<<: *anchor` or a list of aliases: direct keys of the mapping override merged ones, and earlier aliases
   * override later ones.
   */
  #merge(into: JsonObject, node: unknown, path: string, depth: number): void {
    const target = isAlias(node) ? this.#targets.get(node) : node;
    if (isSeq(target)) {
      for (const [index, item] of target.items.entries()) {
        const one = isAlias(item) ? this.#targets.get(item) : item;
        if (isMap(one)) this.#merge(into, one, itemPath(path, index), depth + 1);
        else this.#refuse(itemPath(path, index), "can only merge mappings");
      }
      return;
    }
    // The value of a mapping is a mapping, or null if it was refused.
    const value = isMap(target) ? (this.#value(target, path, depth) as JsonObject | null) : null;
    if (value === null) {
      this.#refuse(path, "can only merge a mapping or a list of mappings");
      return;
    }
    for (const [key, item] of Object.entries(value)) {
      if (!Object.hasOwn(into, key)) into[key] = item;
    }
  }

  #key(node: unknown, path: string): string | null {
    const target = isAlias(node) ? this.#targets.get(node) : node;
    const key = isScalar(target) ? String(target.value ?? target.source ?? "") : null;
    if (key === null) return this.#refuse(path, "has a key that is not text");
    if (key === "__proto__") return this.#refuse(keyPath(path, key), "is not allowed as a key");
    const wrong = textProblem(key);
    if (wrong !== null) return this.#refuse(keyPath(path, key), `is a key that ${wrong}`);
    return key;
  }

  #scalar(node: Scalar, path: string): Json {
    const value: unknown = node.value;
    if (typeof value === "string") {
      const wrong = textProblem(value);
      return wrong === null ? value : this.#refuse(path, wrong);
    }
    if (typeof value === "bigint") {
      const number = Number(value);
      if (Number.isSafeInteger(number)) return number;
      return this.#refuse(
        path,
        "is an integer beyond 2^53 - 1, which programs cannot all hold exactly; write it with an exponent or in quotes",
      );
    }
    if (typeof value === "number") {
      if (Number.isFinite(value)) return value;
      return this.#refuse(path, `must be a finite number, not ${node.source ?? String(value)}`);
    }
    if (value === null || value === undefined || typeof value === "boolean") return value ?? null;
    return this.#refuse(path, "has a YAML type that JSON does not have; write it as text");
  }
}

function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.type === Scalar.PLAIN && key.source === "<<";
}

/** Returns the problem of a text that cannot be stored as UTF-8 in PostgreSQL; null for none. */
export function textProblem(text: string): string | null {
  if (text.includes("\u0000")) return "contains the character \\u0000, which cannot be stored";
  if (!text.isWellFormed()) return "contains half of a surrogate pair, which is not text";
  return null;
}

type AliasTargets = ReadonlyMap<Alias, unknown>;

/** Maps each alias to its node: the latest one before it with that anchor. */
function aliasTargets(document: Document.Parsed): AliasTargets {
  const anchors = new Map<string, unknown>();
  const targets = new Map<Alias, unknown>();
  visit(document, (_, node) => {
    if (isAlias(node)) targets.set(node, anchors.get(node.source));
    else if (isCollection(node) || isScalar(node)) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    }
  });
  return targets;
}
