// The OpenAPI documents by group and version, which kubectl and helm read before they check or merge on their side:
// which parameters a patch has, and by which keys lists are merged. Source: docs, "The Kubernetes API" (OpenAPI V3).
import { createHash } from "node:crypto";
import { apiVersionOf, type Resource } from "../resources.ts";
import { openApiNameOf, type Schema, structOf, typeNames } from "../schemas/schema.ts";
import { verbsOf } from "../rest/discovery.ts";

type Json = Record<string, unknown>;

const pathOf = (resource: Resource): string =>
  resource.group === "" ? `api/${resource.version}` : `apis/${apiVersionOf(resource)}`;

export const openApiIndex = (resources: readonly Resource[]): unknown => {
  const paths = [...new Set(resources.map(pathOf))].map((path) => {
    const hash = createHash("sha256")
      .update(JSON.stringify(openApiDocument(resources, path)))
      .digest("hex");
    return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash.slice(0, 32)}` }];
  });
  return { paths: Object.fromEntries(paths) };
};

const documents = new Map<string, unknown>();

/** Null for a path that no group and version has. */
export const openApiDocument = (resources: readonly Resource[], path: string): unknown => {
  const members = resources.filter((resource) => pathOf(resource) === path);
  if (members.length === 0) return null;
  const known = documents.get(path);
  if (known) return known;
  const kinds = new Map(members.map((resource) => [openApiNameOf(resource), resource]));
  const document = {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "v1.33.0" },
    paths: Object.fromEntries(members.flatMap(pathsOf)),
    components: {
      schemas: Object.fromEntries(
        [...reachable([...kinds.keys(), DELETE_OPTIONS])].map((name) => [
          name,
          componentOf(name, kinds.get(name)),
        ]),
      ),
    },
  };
  documents.set(path, document);
  return document;
};

const DELETE_OPTIONS = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";

const reachable = (names: readonly string[]): Set<string> => {
  const found = new Set<string>();
  const visit = (schema: Schema): void => {
    if (schema.type === "list" || schema.type === "map") visit(schema.item);
    if (schema.type !== "struct" || found.has(schema.name)) return;
    found.add(schema.name);
    for (const field of schema.fields.values()) visit(field);
  };
  for (const name of names) if (typeNames().includes(name)) visit(structOf(name));
  return found;
};

const gvkOf = ({ group, version, kind }: Resource): Json => ({ group, version, kind });

const componentOf = (name: string, resource: Resource | undefined): Json => {
  const { fields, required, atomic } = structOf(name);
  return {
    type: "object",
    properties: Object.fromEntries(
      [...fields].map(([field, schema]) => [field, propertyOf(schema)]),
    ),
    ...(required.size > 0
      ? { required: [...required].filter((field) => !["apiVersion", "kind"].includes(field)) }
      : {}),
    ...(atomic ? { "x-kubernetes-map-type": "atomic" } : {}),
    ...(resource ? { "x-kubernetes-group-version-kind": [gvkOf(resource)] } : {}),
  };
};

const SCALARS: Readonly<Record<string, Json>> = {
  string: { type: "string", default: "" },
  int: { type: "integer", format: "int32", default: 0 },
  bool: { type: "boolean" },
  quantity: { oneOf: [{ type: "string" }, { type: "number" }] },
  intOrString: { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
  time: { type: "string", format: "date-time" },
  bytes: { type: "string", format: "byte" },
  any: { type: "object" },
};

const propertyOf = (schema: Schema): Json => {
  if (schema.type === "struct") {
    const reference = { allOf: [{ $ref: `#/components/schemas/${schema.name}` }] };
    return schema.retainKeys
      ? { ...reference, "x-kubernetes-patch-strategy": "retainKeys" }
      : reference;
  }
  if (schema.type === "map") {
    const map = { type: "object", additionalProperties: propertyOf(schema.item) };
    return schema.atomic ? { ...map, "x-kubernetes-map-type": "atomic" } : map;
  }
  if (schema.type !== "list") return SCALARS[schema.type] ?? {};
  const { keys, set, patchKey, retainKeys } = schema;
  const merges = patchKey !== null || set;
  return {
    type: "array",
    items: propertyOf(schema.item),
    "x-kubernetes-list-type": set ? "set" : keys.length > 0 ? "map" : "atomic",
    ...(keys.length > 0 ? { "x-kubernetes-list-map-keys": keys } : {}),
    ...(merges ? { "x-kubernetes-patch-strategy": retainKeys ? "merge,retainKeys" : "merge" } : {}),
    ...(patchKey === null ? {} : { "x-kubernetes-patch-merge-key": patchKey }),
  };
};

const parameter = (name: string, type = "string"): Json => ({
  name,
  in: "query",
  schema: { type, uniqueItems: true },
});

const WRITE = ["dryRun", "fieldManager", "fieldValidation"].map((name) => parameter(name));

const pathsOf = (resource: Resource): [string, Json][] => {
  const scope = resource.namespaced ? "/namespaces/{namespace}" : "";
  const root = `/${pathOf(resource)}${scope}/${resource.plural}`;
  const verbs = verbsOf(resource);
  const gvk = { "x-kubernetes-group-version-kind": gvkOf(resource) };
  const operation = (action: string, parameters: Json[], content?: Json): Json => ({
    operationId: `${action}${resource.kind}`,
    parameters,
    ...(content ? { requestBody: { content } } : {}),
    responses: { "200": { description: "OK" } },
    "x-kubernetes-action": action,
    ...gvk,
  });
  const body = { "*/*": { schema: { $ref: `#/components/schemas/${openApiNameOf(resource)}` } } };
  const patches = Object.fromEntries(
    [
      "application/apply-patch+yaml",
      "application/json-patch+json",
      "application/merge-patch+json",
      ...(resource.group === "monitoring.coreos.com"
        ? []
        : ["application/strategic-merge-patch+json"]),
    ].map((type) => [type, { schema: { type: "object" } }]),
  );
  const collection: Json = { post: operation("post", WRITE, body) };
  if (!verbs.includes("get")) return [[root, collection]];
  collection.get = operation("list", []);
  const one = {
    get: operation("get", []),
    put: operation("put", WRITE, body),
    patch: operation("patch", [...WRITE, parameter("force", "boolean")], patches),
    delete: operation("delete", [parameter("dryRun"), parameter("propagationPolicy")]),
  };
  return [
    [root, collection],
    [`${root}/{name}`, one],
  ];
};
