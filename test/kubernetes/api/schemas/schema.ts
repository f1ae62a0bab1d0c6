// The types of the API's objects, read from api-schema.json and joined with the table of merge keys.
import types from "./api-schema.json" with { type: "json" };
import { type Resource, SERVICE_MONITOR } from "../resources.ts";
import { ATOMIC_MAPS, ATOMIC_STRUCTS, LISTS, RETAIN_KEYS } from "./merge-keys.ts";

export type Scalar =
  | "string"
  | "int"
  | "bool"
  | "quantity"
  | "intOrString"
  | "time"
  | "bytes"
  | "any";

type Common = {
  /** One writer's value replaces another's as a whole. */
  atomic: boolean;
};

export type StructSchema = Common & {
  type: "struct";
  /** The name in the OpenAPI document. */
  name: string;
  readonly fields: ReadonlyMap<string, Schema>;
  readonly required: ReadonlySet<string>;
  retainKeys: boolean;
};
export type MapSchema = Common & { type: "map"; item: Schema };
export type ListSchema = Common & {
  type: "list";
  item: Schema;
  /** Fields by which items are the same; empty for atomic lists and sets. */
  keys: readonly string[];
  set: boolean;
  /** The field by which a strategic merge patch finds an item. */
  patchKey: string | null;
  retainKeys: boolean;
};
export type ScalarSchema = Common & { type: Scalar; values?: readonly string[] };
export type Schema = StructSchema | MapSchema | ListSchema | ScalarSchema;

const TYPES: Readonly<Record<string, Record<string, string>>> = {
  ...types,
  // Source: the Prometheus operator's API reference, "ServiceMonitor", as far as charts write it.
  "com.coreos.monitoring.v1.ServiceMonitor": {
    apiVersion: '"monitoring.coreos.com/v1"!',
    kind: '"ServiceMonitor"!',
    metadata: "@io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
    spec: "@com.coreos.monitoring.v1.ServiceMonitorSpec!",
  },
  "com.coreos.monitoring.v1.ServiceMonitorSpec": {
    endpoints: "[]@com.coreos.monitoring.v1.Endpoint!",
    jobLabel: "string",
    namespaceSelector: "@com.coreos.monitoring.v1.NamespaceSelector",
    sampleLimit: "int",
    selector: "@io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector!",
    targetLabels: "[]string",
    podTargetLabels: "[]string",
  },
  "com.coreos.monitoring.v1.NamespaceSelector": { any: "bool", matchNames: "[]string" },
  "com.coreos.monitoring.v1.Endpoint": {
    authorization: "any",
    bearerTokenSecret: "@io.k8s.api.core.v1.SecretKeySelector",
    honorLabels: "bool",
    interval: "string",
    metricRelabelings: "any",
    params: "any",
    path: "string",
    port: "string",
    relabelings: "any",
    scheme: '"http|https"',
    scrapeTimeout: "string",
    targetPort: "intOrString",
    tlsConfig: "any",
  },
};

const GROUPS: Readonly<Record<string, string>> = { "": "core" };

export const openApiNameOf = (resource: Resource): string =>
  resource.group === SERVICE_MONITOR.group
    ? `com.coreos.monitoring.${resource.version}.${resource.kind}`
    : `io.k8s.api.${GROUPS[resource.group] ?? resource.group.split(".")[0]}.${resource.version}.${resource.kind}`;

export const schemaOf = (resource: Resource): StructSchema => structOf(openApiNameOf(resource));

const structs = new Map<string, StructSchema>();

/** The struct of an OpenAPI name; one object for each name, so that a reader may compare by identity. */
export const structOf = (name: string): StructSchema => {
  const known = structs.get(name);
  if (known) return known;
  const declared = TYPES[name];
  if (!declared) throw new Error(`api-schema.json has no type ${name}`);
  const short = name.split(".").at(-1) ?? "";
  const fields = new Map<string, Schema>();
  const required = new Set<string>();
  const struct: StructSchema = {
    type: "struct",
    name,
    fields,
    required,
    atomic: ATOMIC_STRUCTS.has(short),
    retainKeys: false,
  };
  structs.set(name, struct);
  for (const [field, text] of Object.entries(declared)) {
    if (text.endsWith("!")) required.add(field);
    fields.set(field, parse(text.replace(/!$/, ""), `${short}.${field}`));
  }
  return struct;
};

const parse = (text: string, path: string): Schema => {
  if (text.startsWith("@")) {
    const struct = structOf(text.slice(1));
    return RETAIN_KEYS.has(path) ? { ...struct, retainKeys: true } : struct;
  }
  if (text.startsWith("{}")) {
    return { type: "map", item: parse(text.slice(2), ""), atomic: ATOMIC_MAPS.has(path) };
  }
  if (text.startsWith("[]")) return listOf(parse(text.slice(2), ""), path);
  if (text.startsWith('"'))
    return { type: "string", atomic: true, values: text.slice(1, -1).split("|") };
  return { type: text as Scalar, atomic: true };
};

const listOf = (item: Schema, path: string): ListSchema => {
  const merge = LISTS[path];
  const list = {
    type: "list",
    item,
    keys: [],
    set: false,
    patchKey: null,
    retainKeys: false,
  } as const;
  if (merge === undefined) return { ...list, atomic: true };
  if (merge === "set") return { ...list, atomic: false, set: true };
  if ("patchOnly" in merge) return { ...list, atomic: true, patchKey: merge.patchOnly };
  const patchKey = merge.patchKey === undefined ? (merge.keys[0] ?? null) : merge.patchKey;
  return {
    ...list,
    atomic: false,
    keys: merge.keys,
    patchKey,
    retainKeys: merge.retainKeys === true,
  };
};

/** Every type that the served kinds use, for the OpenAPI document. */
export const typeNames = (): string[] => Object.keys(TYPES);
