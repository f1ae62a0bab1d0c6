/**
 * Makes requests at the limits of a route from the descriptor of its request: the largest body or query, the longest
 * texts and paths, the largest numbers, the most items, the deepest nesting, and odd values. It knows no route, so a
 * new one has its requests at once.
 */
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { pathOf, type Route } from "@trainyard/contracts/routes";

export type HeavyRequest = {
  readonly path: string;
  /** Null for a request without a body. */
  readonly body: Buffer | null;
};

/** Requests of one kind. They are made when they are sent, since the bodies of a kind may fill a gigabyte. */
export type HeavyKind = { readonly name: string; readonly make: () => readonly HeavyRequest[] };

/** The values of fields by their names in snake case, such as the id of an experiment that exists. */
export type KnownValues = Readonly<Record<string, string>>;

/** A head has at most 16 KiB. */
const queryBytesMax = 12 * 1024;
const pathPartBytes = 4 * 1024;
const namesCharacters = 255;
/** A large page, or a second. */
const largeNumber = 1_000;
/** The commas and brackets of a body that the gateway parses. */
const separatorsMax = 500_000;
/** Within the depth that the gateway parses. */
const depth = 60;
/** Messages within messages that are filled, and the items of lists within lists, since these multiply. */
const messagesDepth = 4;
const innerItemsMax = 16;

/** The items of a large request that is still valid, and their values. */
const itemsOfPage = 1_000;
const wide = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`layer.${n}.norm`, n / 7]));
/** The place of an item's number in a known value. */
const numberOfItem = "{n}";

const oddTexts = [
  "",
  "\u0000",
  "\ud800",
  "../../x",
  "' or 1=1 --",
  "%00",
  "NaN",
  "💥",
  "-1",
  "{}",
  "\n",
];
const oddNumbers = [-1, 0.5, 1e308, 2 ** 53, "NaN", "Infinity", "", null, true, {}, []];

/** The content of a message's fields; undefined leaves a field out. */
type Content = {
  readonly text?: string;
  readonly number?: unknown;
  readonly flag?: boolean;
  readonly items?: number;
  readonly struct?: unknown;
  /** Whether a field with a known value has another one. */
  readonly unknown?: boolean;
};

export function heavyKinds(
  route: Route,
  values: KnownValues,
  bodyMax: number,
): readonly HeavyKind[] {
  const bytesMax = route.hasBody ? bodyMax : queryBytesMax;
  const make = (content: Content): unknown =>
    fieldsOf(route.request, content, values, route.pathFields);
  const kind = (name: string, ...contents: readonly (() => unknown)[]): HeavyKind => ({
    name,
    make: () => contents.map((content) => requestOf(route, values, content())),
  });
  const odd = [
    ...oddTexts.map((text) => () => make({ text, unknown: true, items: 1 })),
    ...oddNumbers.map((number) => () => make({ number })),
  ];
  return [
    kind("plain requests", () => make({})),
    kind(
      "the largest numbers",
      () => make({ number: "largest", flag: true }),
      () => make({ number: "largest", items: 1 }),
      () => make({ number: largeNumber }),
    ),
    kind("the longest names", () =>
      make({ text: "x".repeat(namesCharacters), items: 100, struct: { x: 1 } }),
    ),
    kind("the longest texts", () => longest(make, bytesMax)),
    kind("many large items", () => make({ items: itemsOfPage, struct: wide, flag: true })),
    kind(
      "the most items",
      () => most(make, {}, bytesMax),
      () => most(make, { text: "é" }, bytesMax),
    ),
    kind("the deepest nesting", () => make({ struct: nested(depth), items: 1 })),
    kind("odd values", ...odd),
    { name: "odd paths", make: () => oddPaths(route, values) },
    ...(route.hasBody
      ? [{ name: "odd bodies", make: () => oddBodies(route, values, bytesMax) }]
      : []),
  ];
}

function fieldsOf(
  desc: DescMessage,
  content: Content,
  values: KnownValues,
  without: readonly string[] = [],
  level = 0,
): Record<string, unknown> {
  const oneofs = new Set<string>();
  const fields: Record<string, unknown> = {};
  for (const field of desc.fields) {
    if (without.includes(field.name)) continue;
    const value = valueOf(field, content, values, level);
    if (value === undefined) continue;
    // A message has one field of a oneof.
    if (field.oneof !== undefined && oneofs.has(field.oneof.name)) continue;
    if (field.oneof !== undefined) oneofs.add(field.oneof.name);
    fields[field.jsonName] = value;
  }
  return fields;
}

function valueOf(field: DescField, content: Content, values: KnownValues, level: number): unknown {
  const known = content.unknown === true ? undefined : knownOf(field, values);
  const asked = content.items ?? (known === undefined ? 0 : 1);
  const items = level === 0 ? asked : Math.min(asked, innerItemsMax);
  switch (field.fieldKind) {
    case "scalar":
      return (isText(field.scalar) ? known : undefined) ?? scalar(field.scalar, content);
    case "enum":
      return content.number === undefined ? undefined : field.enum.values.at(-1)?.name;
    case "message":
      return messageOf(field.message, content, values, level);
    case "map":
      if (items === 0) return undefined;
      return Object.fromEntries(
        Array.from({ length: items }, (_, n) => [String(1_000_000 + n), content.text ?? "v"]),
      );
    case "list":
      return listOf(itemOf(field, content, values, level), items);
  }
}

type ListField = DescField & { readonly fieldKind: "list" };

function itemOf(field: ListField, content: Content, values: KnownValues, level: number): unknown {
  if (field.listKind === "message") return messageOf(field.message, content, values, level);
  const known = content.unknown === true ? undefined : knownOf(field, values);
  const given = field.listKind === "scalar" ? scalar(field.scalar, content) : undefined;
  return known ?? given ?? "x";
}

function listOf(item: unknown, items: number): readonly unknown[] | undefined {
  if (items === 0 || item === undefined) return undefined;
  const text = textOf(item);
  return text.includes(numberOfItem)
    ? Array.from({ length: items }, (_, n): unknown =>
        JSON.parse(text.replaceAll(numberOfItem, String(n))),
      )
    : Array.from({ length: items }, () => item);
}

/** A list of experiments has the ids of an experiment. */
const knownOf = ({ name }: DescField, values: KnownValues): string | undefined =>
  values[name] ?? values[name.replace(/s$/, "")];

function messageOf(
  desc: DescMessage,
  content: Content,
  values: KnownValues,
  level: number,
): unknown {
  if (desc.typeName.startsWith("google.protobuf.")) return content.struct;
  if (level >= messagesDepth) return undefined;
  const fields = fieldsOf(desc, content, values, [], level + 1);
  return Object.keys(fields).length === 0 && content.items === undefined ? undefined : fields;
}

const isText = (type: ScalarType): boolean =>
  type === ScalarType.STRING || type === ScalarType.BYTES;

function scalar(type: ScalarType, { text, number, flag }: Content): unknown {
  switch (type) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return text;
    case ScalarType.BOOL:
      return flag;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return number === "largest" ? Number.MAX_VALUE : number;
    default:
      return number === "largest" ? 2 ** 32 - 1 : number;
  }
}

/** The texts share the bytes of the request. They are Base64, too. */
function longest(make: (content: Content) => unknown, bytesMax: number): unknown {
  const [short = 0, longer = 0] = ["A", "AAAAA"].map(
    (text) => textOf(make({ text, unknown: true, items: 1 })).length,
  );
  const texts = (longer - short) / 4;
  if (texts === 0) return make({});
  const characters = Math.floor((bytesMax * 0.95 - short) / texts / 4) * 4;
  return make({ text: "A".repeat(Math.max(4, characters)), unknown: true, items: 1 });
}

/** The lists share the bytes and the separators of the request. */
function most(make: (content: Content) => unknown, content: Content, bytesMax: number): unknown {
  const of = (items: number): unknown => make({ ...content, struct: { x: 1 }, items });
  // Beyond these, lists within lists grow no more.
  const [one = "", two = ""] = [1, 2].map((more) => textOf(of(innerItemsMax + more)));
  const bytes = Buffer.byteLength(two) - Buffer.byteLength(one);
  const separators = separatorsOf(two) - separatorsOf(one);
  if (bytes === 0) return of(1);
  return of(Math.floor(Math.min((bytesMax * 0.9) / bytes, (separatorsMax * 0.9) / separators)));
}

const separatorsOf = (text: string): number => text.replace(/[^,[{]/g, "").length;

const nested = (levels: number): unknown => (levels === 0 ? 1 : { x: nested(levels - 1) });

const textOf = (fields: unknown): string => JSON.stringify(fields);

function requestOf(route: Route, values: KnownValues, fields: unknown): HeavyRequest {
  const path = pathOf(route, values);
  if (route.hasBody) return { path, body: Buffer.from(textOf(fields)) };
  return { path: `${path}?${queryOf(fields as Record<string, unknown>)}`, body: null };
}

function queryOf(fields: Record<string, unknown>): string {
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => `${name}=${encoded(one)}`),
  );
  let length = 0;
  return pairs.filter((pair) => (length += pair.length + 1) < queryBytesMax).join("&");
}

function encoded(value: unknown): string {
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  // A lone surrogate has no encoding.
  return encodeURIComponent(text.toWellFormed());
}

function oddPaths(route: Route, values: KnownValues): readonly HeavyRequest[] {
  const body = route.hasBody ? Buffer.from("{}") : null;
  if (route.pathFields.length === 0) return [{ path: pathOf(route, values), body }];
  const parts = ["x".repeat(pathPartBytes), "\u0000", "..", "💥", "1".repeat(200), "-1", "%"];
  const paths = parts.map((part) =>
    pathOf(route, Object.fromEntries(route.pathFields.map((name) => [name, part]))),
  );
  return [...paths, route.path.replace(/\{\w+\}/g, "%ff")].map((path) => ({ path, body }));
}

/** Bodies that are not messages, or have the most bytes, or one more. */
function oddBodies(route: Route, values: KnownValues, bytesMax: number): readonly HeavyRequest[] {
  const texts = ["", "0", "null", "[]", '"', "[".repeat(Math.min(bytesMax, 100_000)), '{"a":'];
  const bodies = texts.map((text) => Buffer.from(text));
  const padded = [bytesMax, bytesMax + 1].map((bytes) => Buffer.alloc(bytes, " "));
  for (const body of padded) body.write("{}");
  return [...bodies, ...padded].map((body) => ({ path: pathOf(route, values), body }));
}
