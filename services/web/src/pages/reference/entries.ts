/** The entries of the page, from the documents that the gateway serves. */
import { type Field, fieldOf, fieldsOf, nameOf, type Schema, textOf, typeOf } from "./schema.ts";

export type Entry = {
  /** The id in the address of the page. */
  readonly id: string;
  readonly group: string;
  /** The verb of a call, or the kind of a channel. */
  readonly badge: string;
  readonly title: string;
  readonly words: string;
  readonly comment: string;
  readonly tables: readonly { readonly caption: string; readonly fields: readonly Field[] }[];
  readonly example: string;
};

type Media = { readonly schema: Schema; readonly example?: unknown };
type Content = Readonly<Record<string, Media>>;
type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
};
type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: { readonly "200": { readonly content: Content } };
};
type Schemas = Readonly<Record<string, Schema>>;
export type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Schemas };
};
type Message = {
  readonly name?: string;
  readonly headers?: Schema;
  readonly payload: Schema;
};
type Reference = { readonly $ref: string };
export type AsyncApi = {
  readonly channels: Readonly<
    Record<
      string,
      {
        readonly address: string | null;
        readonly title?: string;
        readonly description: string;
        readonly servers?: readonly Reference[];
        readonly parameters?: Schemas;
        readonly messages: Readonly<Record<string, Reference>>;
      }
    >
  >;
  readonly components: {
    readonly schemas: Schemas;
    readonly messages: Readonly<Record<string, Message>>;
  };
};

/** Returns the calls, then the messages that they refer to. */
export function callEntries(document: OpenApi): readonly Entry[] {
  const { schemas } = document.components;
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      callEntry(schemas, path, method.toUpperCase(), operation),
    ),
  );
  return [...calls, ...messageEntries(schemas)];
}

function callEntry(schemas: Schemas, path: string, verb: string, operation: Operation): Entry {
  const { operationId, summary, description, tags, parameters, requestBody } = operation;
  const given = (kinds: readonly string[]) =>
    parameters
      .filter((one) => kinds.includes(one.in))
      .map(({ name, schema, description: comment }) => fieldOf(name, schema, comment ?? ""));
  const body = requestBody?.content["application/json"];
  const [type = "", answer] = Object.entries(operation.responses["200"].content)[0] ?? [];
  const inPath = parameters.filter((one) => one.in === "path").map(({ name }) => name);
  return {
    id: operationId,
    group: (tags[0] ?? "").replace(/(?<=[a-z])(?=[A-Z])/g, " ").replace(/ Service$/, ""),
    badge: verb,
    title: path,
    words: summary,
    comment: description ?? "",
    tables: filled([
      { caption: "Parameters", fields: given(["path", "query"]) },
      { caption: "Headers", fields: given(["header"]) },
      {
        caption: "Body",
        fields: fieldsIn(schemas, body).filter(({ name }) => !inPath.includes(name)),
      },
      {
        caption: `Answer: ${typeOf(answer?.schema ?? {})} (${type})`,
        fields: fieldsIn(schemas, answer),
      },
    ]),
    example: curl(path, verb, parameters, body?.example),
  };
}

/** Returns the example as a command line. */
function curl(path: string, verb: string, parameters: readonly Parameter[], body: unknown): string {
  let address = path;
  const query = new URLSearchParams();
  for (const { name, in: place, example } of parameters) {
    if (example === undefined) continue;
    if (place === "path") {
      address = address.replace(`{${name}}`, encodeURIComponent(String(example)));
    } else for (const one of [example].flat()) query.append(name, String(one));
  }
  const text = JSON.stringify(body)?.replaceAll("'", "'\\''");
  return [
    `curl -H "authorization: Bearer $TRAINYARD_TOKEN"${verb === "GET" ? "" : ` -X ${verb}`}`,
    ...(text === undefined ? [] : [`-H "content-type: application/json" -d '${text}'`]),
    `"$TRAINYARD_URL${address}${query.size === 0 ? "" : `?${query.toString()}`}"`,
  ].join(" \\\n  ");
}

function fieldsIn(schemas: Schemas, media: Media | undefined): readonly Field[] {
  const ref = media?.schema["$ref"];
  return fieldsOf(typeof ref === "string" ? schemas[nameOf(ref)] : media?.schema);
}

/** Returns the channels, then the types of events, then the messages that they refer to. */
export function eventEntries(document: AsyncApi): readonly Entry[] {
  const { channels, components } = document;
  const events = new Map(
    Object.entries(components.messages).flatMap(([id, { name }]) =>
      name === undefined ? [] : [[id, name] as const],
    ),
  );
  const ways = Object.entries(channels).map(([id, channel]): Entry => {
    const bound = Object.keys(channel.messages).filter((name) => !events.has(name));
    return {
      id: `channel-${id}`,
      group: "Channels",
      badge: nameOf(channel.servers?.[0]?.$ref ?? "http"),
      title: channel.address ?? channel.title ?? id,
      words: "",
      comment: channel.description,
      tables: filled([
        {
          caption: "Parameters",
          fields: Object.entries(channel.parameters ?? {}).map(([name, parameter]) =>
            fieldOf(name, { type: "string" }, textOf(parameter["description"])),
          ),
        },
        ...bound.flatMap((name) => [
          { caption: `${name}: headers`, fields: fieldsOf(components.messages[name]?.headers) },
          { caption: `${name}: body`, fields: fieldsOf(components.messages[name]?.payload) },
        ]),
      ]),
      example: "",
    };
  });
  const types = [...events].map(([id, type]): Entry => {
    const schema = components.schemas[id] ?? {};
    const examples = schema["examples"] as readonly unknown[] | undefined;
    return {
      ...messageEntry(id, schema),
      group: "Events",
      words: type,
      example: examples === undefined ? "" : JSON.stringify(examples[0], null, 2),
    };
  });
  const others = messageEntries(components.schemas).filter(({ id }) => !events.has(id));
  return [...ways, ...types, ...others];
}

const messageEntries = (schemas: Schemas): readonly Entry[] =>
  Object.entries(schemas).map(([name, schema]) => messageEntry(name, schema));

function messageEntry(name: string, schema: Schema): Entry {
  return {
    id: name,
    group: "Messages",
    badge: "",
    title: name,
    words: "",
    comment: textOf(schema["description"]),
    tables: filled([{ caption: "Fields", fields: fieldsOf(schema) }]),
    example: "",
  };
}

const filled = (tables: Entry["tables"]): Entry["tables"] =>
  tables.filter(({ fields }) => fields.length > 0);

/** Returns the entries that have all words of a search, in their titles or comments. */
export function matching(entries: readonly Entry[], search: string): readonly Entry[] {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0) return entries;
  return entries.filter(({ badge, title, words: own, comment, group }) => {
    const text = `${badge} ${title} ${own} ${comment} ${group}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
