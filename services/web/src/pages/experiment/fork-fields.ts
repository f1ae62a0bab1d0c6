/**
 * The fields of the fork's form: hyperparameters and resources of a YAML text. An edit replaces the characters of the
 * value alone, so that the rest of the text stays as its author wrote it. Pure.
 */
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type ParsedNode,
  parseDocument,
  type YAMLMap,
} from "yaml";

export type ForkField = {
  readonly path: readonly string[];
  readonly label: string;
  /** The value as it is written; empty if the text does not have the key. */
  readonly text: string;
};

export type ForkFields = {
  readonly hyperparameters: readonly ForkField[];
  readonly resources: readonly ForkField[];
};

type Read = { readonly fields: ForkFields } | { readonly problem: string };
type Edited = { readonly text: string } | { readonly problem: string };

const resourceKeys: readonly (readonly [label: string, ...path: string[]])[] = [
  ["Slots per trial", "resources", "slots_per_trial"],
  ["Pool", "resources", "resource_pool"],
  ["Priority", "resources", "priority"],
  ["Restarts at most", "max_restarts"],
];

type Parsed = Document.Parsed<ParsedNode, true>;

function parsed(text: string): Parsed | string {
  // Each key is text, as the platform reads it, also one that looks like a number.
  const document = parseDocument(text, { stringKeys: true });
  const [error] = document.errors;
  if (error !== undefined) return `The text is no valid YAML: ${firstLine(error.message)}`;
  return isMap(document.contents) ? document : "The text must be a mapping of keys to values.";
}

const firstLine = (message: string): string => (message.split("\n")[0] ?? "").replace(/:$/, ".");

/** Reads the fields of a text, or says why it has none. */
export function readFields(text: string): Read {
  const document = parsed(text);
  if (typeof document === "string") return { problem: document };
  const space = document.get("hyperparameters", true);
  return {
    fields: {
      hyperparameters: isMap(space) ? leaves(text, space, ["hyperparameters"]) : [],
      resources: resourceKeys.map(([label, ...path]) => {
        const value = document.getIn(path, true);
        return { label, path, text: isNode(value) ? written(text, value) : "" };
      }),
    },
  };
}

/** Returns whether a text names the seed that its experiment draws its numbers with. */
export function namesSeed(text: string): boolean {
  const document = parsed(text);
  return typeof document !== "string" && document.hasIn(["reproducibility", "experiment_seed"]);
}

const isNode = (value: unknown): value is Node => isScalar(value) || isSeq(value);

/** Returns a field for each number, text and list below a mapping; the type of a range is no field. */
function leaves(text: string, map: YAMLMap, path: readonly string[]): readonly ForkField[] {
  const isRange = map.has("type");
  return map.items.flatMap(({ key, value }): readonly ForkField[] => {
    const name = isScalar(key) ? String(key.value) : String(key);
    const at = [...path, name];
    if (isMap(value)) return leaves(text, value, at);
    if (!isNode(value) || (isRange && name === "type")) return [];
    return [{ path: at, label: at.slice(1).join("."), text: written(text, value) }];
  });
}

/** Returns the value as it is written; of several lines as a list in one line. */
function written(text: string, node: Node): string {
  const [from, until] = node.range ?? [0, 0];
  const raw = text.slice(from, until);
  return raw.trim().includes("\n") ? JSON.stringify(node.toJSON()) : raw.trim();
}

const noPlace = { problem: "The text has no place for this value: edit the text." };
const otherValue = {
  problem: "The text would read another value here: write a decimal point, or quotes.",
};
const noValue = { problem: "This is no valid YAML value." };

/**
 * Replaces the value of a field; an empty one removes a resource, so that the default applies. An edit that would
 * change anything else, or that the text would read as another value, is refused.
 */
export function withField(text: string, { path }: Pick<ForkField, "path">, value: string): Edited {
  const document = parsed(text);
  if (typeof document === "string") return { problem: document };
  const given = value.trim();
  if (given === "" && path[0] === "hyperparameters") return { problem: "Enter a value." };
  try {
    return given === "" ? removed(text, document, path) : replaced(text, document, path, given);
  } catch {
    // The library throws where a parent is no mapping, and where the name of a value is lost.
    return noPlace;
  }
}

function removed(text: string, document: Parsed, path: readonly string[]): Edited {
  return { text: isNode(document.getIn(path, true)) ? without(document, path) : text };
}

function replaced(text: string, document: Parsed, path: readonly string[], given: string): Edited {
  const value = parseDocument(given);
  if (value.errors.length > 0) return noValue;
  const wanted = withValue(document.toJS(), path, value.toJS());
  const node = document.getIn(path, true);
  const changed = isNode(node) ? spliced(text, node, given) : added(document, path, given);
  const again = parsed(changed);
  if (typeof again === "string" || !isNode(again.getIn(path, true))) return noValue;
  const isWanted = JSON.stringify(again.toJS()) === JSON.stringify(wanted);
  return isWanted ? { text: changed } : otherValue;
}

/** Returns the configuration with one value changed. */
function withValue(config: unknown, [key, ...below]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const keys = { ...(config as Readonly<Record<string, unknown>> | undefined) };
  return { ...keys, [key]: withValue(keys[key], below, value) };
}

function spliced(text: string, { range }: Node, given: string): string {
  const [from, until] = range ?? [0, 0];
  const end = text.slice(from, until).endsWith("\n") ? "\n" : "";
  return `${text.slice(0, from)}${given}${end}${text.slice(until)}`;
}

function added(document: Parsed, path: readonly string[], given: string): string {
  document.setIn(path, parseDocument(given).contents);
  return document.toString({ lineWidth: 0 });
}

function without(document: Parsed, path: readonly string[]): string {
  document.deleteIn(path);
  const above = document.getIn(path.slice(0, -1), true);
  if (path.length > 1 && isMap(above) && above.items.length === 0) {
    document.deleteIn(path.slice(0, -1));
  }
  return document.toString({ lineWidth: 0 });
}
