/** The keys of values.schema.json, and those that values set. A shared definition counts once, wherever it is used. */

export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly $defs?: Readonly<Record<string, Schema>>;
};

/** Calls `see` with each schema that is in this one, itself included, and the place of each in the file. */
export function walk(
  schema: Schema,
  place: string,
  see: (schema: Schema, place: string) => void,
): void {
  see(schema, place);
  for (const [key, inner] of Object.entries(schema.properties ?? {}))
    walk(inner, `${place}/${key}`, see);
  for (const [key, inner] of Object.entries(schema.$defs ?? {})) walk(inner, `#${key}`, see);
  if (typeof schema.additionalProperties === "object")
    walk(schema.additionalProperties, `${place}/*`, see);
  if (schema.items !== undefined) walk(schema.items, `${place}[]`, see);
}

/** Returns the place of every key that the schema names. */
export function keysOf(schema: Schema): readonly string[] {
  const keys: string[] = [];
  walk(schema, "", ({ properties = {} }, place) => {
    for (const key of Object.keys(properties)) keys.push(`${place}/${key}`);
  });
  return keys;
}

/** Returns the places of the keys that have another value than the default, which is undefined for none. */
export function keysSet(root: Schema, values: unknown, defaults: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (schema: Schema, place: string, value: unknown, otherwise: unknown): void => {
    if (schema.$ref !== undefined) {
      const name = schema.$ref.replace("#/$defs/", "");
      visit(root.$defs?.[name] ?? {}, `#${name}`, value, otherwise);
      return;
    }
    if (Array.isArray(value)) {
      for (const item of value) visit(schema.items ?? {}, `${place}[]`, item, undefined);
      return;
    }
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      const plain = (otherwise as Readonly<Record<string, unknown>> | null | undefined)?.[key];
      if (JSON.stringify(inner) === JSON.stringify(plain)) continue;
      const known = schema.properties?.[key];
      if (known !== undefined) found.add(`${place}/${key}`);
      const open = schema.additionalProperties;
      const next = known ?? (typeof open === "object" ? open : {});
      visit(next, known === undefined ? `${place}/*` : `${place}/${key}`, inner, plain);
    }
  };
  visit(root, "", values, defaults);
  return found;
}
