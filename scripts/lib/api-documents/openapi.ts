/** The OpenAPI 3.1 document of the public API: its routes, with the comments of proto/ and an example of each call. */
import type { CallName } from "@trainyard/contracts";
import type { Route } from "@trainyard/contracts/routes";
import type { DescMessage } from "@bufbuild/protobuf";
import type { Protocol } from "../events-page/protocol.ts";
import type { Example } from "./examples.ts";
import { Schemas, type Schema } from "./schemas.ts";

export type ApiParts = {
  readonly version: string;
  readonly protocol: Protocol;
  readonly routes: readonly Route[];
  /** The message of every error. */
  readonly problem: DescMessage;
  readonly examples: Readonly<Partial<Record<CallName, Example>>>;
  readonly codes: Readonly<Record<string, readonly number[]>>;
};

/** Throws when a call has no example, or an example that lacks a field of its path. */
export function openApi(parts: ApiParts): Schema {
  const { version, protocol, routes, problem, codes } = parts;
  const schemas = new Schemas(protocol);
  schemas.ref(problem);
  const paths: Record<string, Schema> = {};
  const ids = new Map<string, number>();
  for (const route of routes) {
    const name = `${route.service}_${route.name}`;
    const count = (ids.get(name) ?? 0) + 1;
    ids.set(name, count);
    // A call with several paths is several operations, and each has an id of its own.
    const id = count === 1 ? name : `${name}_${count}`;
    const path = (paths[route.path] ??= {});
    path[route.method.toLowerCase()] = operation(schemas, route, id, parts);
  }
  const components = schemas.all();
  addCodes(components[problem.name], codes);
  return {
    openapi: "3.1.0",
    info: {
      title: "Trainyard",
      version,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    security: [{ bearer: [] }],
    tags: tags(routes, protocol),
    paths,
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
      responses: {
        Problem: {
          description: "A problem (RFC 9457).",
          content: { "application/problem+json": { schema: schemas.ref(problem) } },
        },
      },
      schemas: components,
    },
  };
}

function tags(routes: readonly Route[], protocol: Protocol): readonly Schema[] {
  return [...new Set(routes.map(({ service }) => service))].map((name) => {
    const description = protocol.services.get(`trainyard.api.v1.${name}`) ?? "";
    return { name, ...(description === "" ? {} : { description }) };
  });
}

/** The codes are no enumeration: later versions have more. */
function addCodes(problem: Schema | undefined, codes: ApiParts["codes"]): void {
  const code = (problem?.["properties"] as Record<string, Schema> | undefined)?.["code"];
  if (code === undefined) throw new Error("a problem has a code");
  code["examples"] = Object.keys(codes);
  code["x-statuses"] = codes;
}

function operation(schemas: Schemas, route: Route, id: string, parts: ApiParts): Schema {
  const comment = parts.protocol.methods.get(`trainyard.api.v1.${route.service}.${route.name}`);
  if (!comment) throw new Error(`${route.service}.${route.name} has no comment in proto/`);
  const example = exampleOf(route, parts.examples[route.call]);
  const rest = Object.entries(example).filter(([name]) => !route.pathFields.includes(name));
  const body = { schema: schemas.ref(route.request), example: Object.fromEntries(rest) };
  return {
    operationId: id,
    summary: wordsOf(route.name),
    description: comment,
    tags: [route.service],
    ...(route.facts.open ? { security: [] } : {}),
    parameters: [
      ...route.request.fields.flatMap((field) => {
        const isPath = route.pathFields.includes(field.name);
        if (!isPath && route.hasBody) return [];
        const given = example[field.jsonName];
        return {
          name: isPath ? field.name : field.jsonName,
          in: isPath ? "path" : "query",
          ...(isPath ? { required: true } : {}),
          ...described(schemas.comment(field)),
          schema: isPath ? { type: "string" } : schemas.bare(field),
          ...(given === undefined ? {} : { example: given }),
        };
      }),
      ...headers(route),
    ],
    ...(route.hasBody
      ? { requestBody: { required: true, content: { "application/json": body } } }
      : {}),
    responses: {
      "200": { description: "OK", content: answer(schemas, route) },
      default: { $ref: "#/components/responses/Problem" },
    },
  };
}

function exampleOf(route: Route, example: Example | undefined): Example {
  if (example === undefined) throw new Error(`${route.call} has no example`);
  const missing = route.pathFields.filter((name) => example[name] === undefined);
  if (missing.length > 0) throw new Error(`the example of ${route.call} lacks ${missing.join()}`);
  return example;
}

const described = (description: string): Schema => (description === "" ? {} : { description });

/** Returns the words of a method's name: `Create experiment`. */
function wordsOf(name: string): string {
  const words = name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.replace("tensor board", "TensorBoard");
}

function headers({ method, call, kind }: Route): readonly Schema[] {
  const header = (name: string, description: string, schema: Schema = {}) => ({
    name,
    in: "header",
    description,
    schema: { type: "string", ...schema },
  });
  return [
    ...(method === "GET"
      ? []
      : [
          header(
            "Idempotency-Key",
            "A text that the caller draws for this request. A repeat with the same key has no second effect.",
            { maxLength: 200 },
          ),
        ]),
    ...(call === "updateExperiment"
      ? [header("If-Match", "The ETag of the experiment that the change was made for.")]
      : []),
    ...(kind === "stream"
      ? [
          header(
            "Last-Event-ID",
            "The id of the last event that the caller has: the stream resumes.",
          ),
        ]
      : []),
  ];
}

function answer(schemas: Schemas, route: Route): Schema {
  if (route.kind === "raw") {
    const isArchive = route.call !== "readTensorBoardFile";
    const type = isArchive ? "application/gzip" : "application/octet-stream";
    return { [type]: { schema: { type: "string", format: "binary" } } };
  }
  const type = route.kind === "stream" ? "text/event-stream" : "application/json";
  return { [type]: { schema: schemas.ref(route.reply) } };
}
