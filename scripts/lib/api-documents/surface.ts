/**
 * The surface of the API's documents, on which programs rely, as lines: operations, parameters, headers, fields with
 * their types, values, codes, channels. A release records the lines. A line that a later document lacks breaks
 * programs: `buf breaking` compares messages only, and knows no paths, verbs, subjects or headers.
 */
import { type Schema, typeText } from "./schema-text.ts";

type Operation = {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Contents };
  readonly responses: Readonly<Record<string, { readonly content?: Contents }>>;
};
type Contents = Readonly<Record<string, { readonly schema: Schema }>>;
type Schemas = Readonly<Record<string, Schema>>;

export type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Schemas };
};
export type AsyncApi = {
  readonly channels: Readonly<
    Record<string, { readonly address: string | null; readonly messages: object }>
  >;
  readonly operations: Readonly<
    Record<string, { readonly action: string; readonly channel: { readonly $ref: string } }>
  >;
  readonly components: {
    readonly schemas: Schemas;
    readonly messages: Readonly<
      Record<
        string,
        { readonly name?: string; readonly headers?: Schema; readonly payload: Schema }
      >
    >;
  };
};

/** Returns the lines of both documents in one order. */
export function surfaceOf(openapi: OpenApi, asyncapi: AsyncApi): readonly string[] {
  return [...ofOpenApi(openapi), ...ofAsyncApi(asyncapi)].toSorted();
}

/** Returns a sentence for each released line that today's surface lacks. */
export function missingFrom(
  today: readonly string[],
  released: readonly string[],
): readonly string[] {
  const present = new Set(today);
  return released
    .filter((line) => !present.has(line))
    .map((line) => `programs rely on what the documents no longer have: ${line}`);
}

function* ofOpenApi({ paths, components }: OpenApi): Iterable<string> {
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const call = `call ${method.toUpperCase()} ${path}`;
      yield call;
      for (const one of operation.parameters ?? []) {
        yield `${call} ${one.in} ${one.name}: ${typeText(one.schema)}`;
      }
      for (const body of contents(operation.requestBody?.content)) yield `${call} takes ${body}`;
      for (const body of contents(operation.responses["200"]?.content)) {
        yield `${call} answers ${body}`;
      }
    }
  }
  yield* ofSchemas("message", components.schemas);
  const code = propertiesOf(components.schemas["Problem"])["code"];
  const codes = (code?.["x-statuses"] ?? {}) as Readonly<Record<string, readonly number[]>>;
  for (const [name, statuses] of Object.entries(codes)) {
    for (const status of statuses) yield `code ${name} ${status}`;
  }
}

function* ofAsyncApi({ channels, operations, components }: AsyncApi): Iterable<string> {
  for (const [name, { address, messages }] of Object.entries(channels)) {
    yield `channel ${name} ${address}`;
    for (const message of Object.keys(messages)) yield `channel ${name} has ${message}`;
  }
  for (const [name, { action, channel }] of Object.entries(operations)) {
    yield `operation ${name} ${action} ${channel.$ref}`;
  }
  for (const [name, { name: type, headers, payload }] of Object.entries(components.messages)) {
    if (type !== undefined) yield `event ${name} ${type}`;
    for (const [header, schema] of Object.entries(propertiesOf(headers))) {
      yield `event ${name} header ${header}: ${typeText(schema)}`;
    }
    yield* ofProperties(`event ${name} field`, payload);
  }
  yield* ofSchemas("body", components.schemas);
}

function contents(content: Contents = {}): readonly string[] {
  return Object.entries(content).map(([type, { schema }]) => `${type}: ${typeText(schema)}`);
}

function* ofSchemas(kind: string, schemas: Schemas): Iterable<string> {
  for (const [name, schema] of Object.entries(schemas))
    yield* ofProperties(`${kind} ${name}`, schema);
}

function* ofProperties(owner: string, schema: Schema): Iterable<string> {
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    yield `${owner}.${name}: ${typeText(property)}`;
    for (const value of valuesOf(property)) yield `${owner}.${name} may be ${value}`;
  }
}

const propertiesOf = (schema: Schema | undefined): Schemas =>
  (schema?.["properties"] ?? {}) as Schemas;

const valuesOf = (schema: Schema): readonly string[] => {
  const items = (schema["items"] ?? schema) as Schema;
  return (items["enum"] ?? []) as readonly string[];
};
