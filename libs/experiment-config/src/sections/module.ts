/**
 * A section of the configuration: the description, schema, defaults, rules and reader of each of its keys. A key with
 * an effect is a line in `keys`, a line in `read`, and perhaps one in `defaults`.
 */
import type { JsonObject } from "../json.ts";
import type { Part } from "../parts/part.ts";
import type { Shape, Values } from "../parts/values.ts";

export type SectionModule<Own extends object = object> = Omit<Part, "schema" | "parts"> & {
  /** One sentence for editors. */
  readonly description: string;
  /**
   * The keys, built from the small schemas. It is a function of the schemas, so that reading a recorded configuration
   * loads no schema library.
   */
  readonly keys: (values: Values) => Shape;
  /** Further keys, which have rules of their own: a merge rule, an older shape, defaults inside. */
  readonly parts?: (values: Values) => Readonly<Record<string, Part>>;
  /** The keys that are recorded as they were written, without defaults, each with the warning about it. */
  readonly asWritten?: Readonly<Record<string, string>>;
  /** Reads the keys from any section: an absent value, or one of the wrong type, becomes the default. */
  readonly read: (section: JsonObject) => Own;
};

export function sectionPart(module: SectionModule, values: Values): Part {
  const {
    description,
    keys,
    parts: partsOf,
    asWritten: _asWritten,
    read: _read,
    ...rules
  } = module;
  const parts = partsOf?.(values) ?? {};
  const schema = values.section({ ...keys(values), ...schemasOf(parts) }).describe(description);
  return { ...rules, schema, parts };
}

export function schemasOf(parts: Readonly<Record<string, Part>>): Shape {
  return Object.fromEntries(Object.entries(parts).map(([key, { schema }]) => [key, schema]));
}

export const IN_CONTAINERS =
  "takes effect on agents that run containers; a process on its host does not need it";
export const NOT_YET = "is accepted and has no effect yet";
