/** Makes the OpenAPI 3.1 document of the public API from the descriptors that the gateway serves. */
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { ProblemSchema } from "@trainyard/contracts/api";
import { gatewayRoutes, type Route } from "@trainyard/contracts/routes";
import { version } from "@trainyard/runtime";

type Schema = Record<string, unknown>;

export function openApi(): Schema {
  const schemas = new Map<string, Schema>();
  const paths: Record<string, Record<string, Schema>> = {};
  addMessage(schemas, ProblemSchema);
  for (const route of gatewayRoutes()) {
    const path = paths[route.path] ?? {};
    path[route.method.toLowerCase()] = operation(schemas, route);
    paths[route.path] = path;
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Trainyard",
      version,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
      schemas: Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

function operation(schemas: Map<string, Schema>, route: Route): Schema {
  const inPath = new Set(route.pathFields);
  const fields = route.request.fields.filter((field) => !inPath.has(field.name));
  const parameters: Schema[] = route.pathFields.map((name) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  if (!route.hasBody) {
    for (const field of fields) {
      parameters.push({ name: field.jsonName, in: "query", schema: fieldSchema(schemas, field) });
    }
  }
  if (route.method !== "GET") {
    parameters.push({
      name: "Idempotency-Key",
      in: "header",
      schema: { type: "string", maxLength: 200 },
    });
  }
  if (route.call === "updateExperiment") {
    parameters.push({ name: "If-Match", in: "header", schema: { type: "string" } });
  }
  if (route.hasBody) addMessage(schemas, route.request);
  return {
    operationId: `${route.service}_${route.name}`,
    tags: [route.service],
    parameters,
    ...(route.hasBody
      ? { requestBody: { required: true, content: json(ref(route.request)) } }
      : {}),
    responses: {
      "200": { description: "OK", content: answerContent(schemas, route) },
      default: {
        description: "A problem (RFC 9457)",
        content: { "application/problem+json": { schema: ref(ProblemSchema) } },
      },
    },
  };
}

function answerContent(schemas: Map<string, Schema>, route: Route): Schema {
  if (route.kind === "raw")
    return { "application/gzip": { schema: { type: "string", format: "binary" } } };
  addMessage(schemas, route.reply);
  return route.kind === "stream"
    ? { "text/event-stream": { schema: ref(route.reply) } }
    : json(ref(route.reply));
}

const json = (schema: Schema): Schema => ({ "application/json": { schema } });

const ref = (message: DescMessage): Schema => ({ $ref: `#/components/schemas/${message.name}` });

function addMessage(schemas: Map<string, Schema>, message: DescMessage): void {
  if (schemas.has(message.name) || message.typeName.startsWith("google.")) return;
  const schema: Schema = { type: "object" };
  schemas.set(message.name, schema);
  schema["properties"] = Object.fromEntries(
    message.fields.map((field) => [field.jsonName, fieldSchema(schemas, field)]),
  );
}

function fieldSchema(schemas: Map<string, Schema>, field: DescField): Schema {
  if (field.fieldKind === "list") return { type: "array", items: elementSchema(schemas, field) };
  if (field.fieldKind === "map") {
    return { type: "object", additionalProperties: elementSchema(schemas, field) };
  }
  return elementSchema(schemas, field);
}

function elementSchema(schemas: Map<string, Schema>, field: DescField): Schema {
  if (field.message !== undefined) {
    if (field.message.typeName.startsWith("google.protobuf.")) return { type: "object" };
    addMessage(schemas, field.message);
    return ref(field.message);
  }
  if (field.enum !== undefined) return { enum: field.enum.values.map(({ name }) => name) };
  switch (field.scalar) {
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64" };
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.UINT32:
      return { type: "integer", minimum: 0, maximum: 4_294_967_295 };
    case ScalarType.INT32:
      return { type: "integer", minimum: -2_147_483_648, maximum: 2_147_483_647 };
    default:
      return { anyOf: [{ type: "number" }, { enum: ["NaN", "Infinity", "-Infinity"] }] };
  }
}
