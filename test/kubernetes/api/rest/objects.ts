// Creates, reads, changes and deletes objects. Source: docs, "Kubernetes API Concepts" (API verbs, single resource
// API), "Server-Side Apply"; API conventions, "Verbs on Resources".
import { applyConfiguration, trackUpdate, type Writer } from "../apply/ownership.ts";
import { ApiFault, badRequest, notFound, qualified } from "../fault.ts";
import type { DeleteOptions, KubeObject, Propagation } from "../object-store.ts";
import { applyJsonPatch } from "../patch/json-patch.ts";
import { applyMergePatch } from "../patch/merge-patch.ts";
import { applyStrategicMerge } from "../patch/strategic-merge.ts";
import { apiVersionOf, type Resource } from "../resources.ts";
import { type StructSchema, schemaOf, structOf } from "../schemas/schema.ts";
import type { MemoryStore, WriteOptions } from "../store/memory-store.ts";
import { decodeObject } from "../validation/decode.ts";
import { fieldValidationOf, readBody, readObject, unsupported } from "./body.ts";
import { type ApiRequest, isDryRun } from "./request.ts";
import { selectionOf } from "./selectors.ts";

export type Answer = { code: number; body: unknown; warnings?: string[] };

export type Target = { store: MemoryStore; resource: Resource; schema: StructSchema };

export const targetOf = (store: MemoryStore, resource: Resource): Target => ({
  store,
  resource,
  schema: schemaOf(resource),
});

const nameOf = ({ path }: ApiRequest): string => path.name ?? "";

/** Throws 404 where there is none. */
export const stored = ({ store, resource }: Target, request: ApiRequest): KubeObject => {
  const object = store.get(resource.plural, request.path.namespace, nameOf(request));
  if (!object) throw notFound(resource, nameOf(request));
  return object;
};

/** The manager of a write: named by the request, else the client's program. */
const writerOf = (request: ApiRequest, resource: Resource): Writer => {
  const given = request.query.get("fieldManager");
  if (given !== null && given.length > 128) {
    throw invalidOptions("fieldManager", "Too long: may not be more than 128 bytes");
  }
  const program = (request.headers["user-agent"] ?? "").split("/")[0] ?? "";
  return {
    manager: given || program || "unknown",
    apiVersion: apiVersionOf(resource),
    subresource: request.path.subresource,
  };
};

const invalidOptions = (field: string, message: string): ApiFault =>
  new ApiFault(422, "Invalid", `PatchOptions.meta.k8s.io "" is invalid: ${field}: ${message}`);

const writeOptions = (request: ApiRequest, target: Target): WriteOptions => ({
  dryRun: isDryRun(request.query),
  byClient: true,
  track: (object, old) =>
    trackUpdate(object, old, target.schema, writerOf(request, target.resource)),
});

const placeInNamespace = (object: KubeObject, request: ApiRequest, resource: Resource): void => {
  const { namespace } = request.path;
  if (!resource.namespaced) return;
  if (object.metadata.namespace && object.metadata.namespace !== namespace) {
    throw badRequest(
      `the namespace of the provided object does not match the namespace sent on the request`,
    );
  }
  object.metadata.namespace = namespace ?? "default";
};

export const create = (target: Target, request: ApiRequest): Answer => {
  const { store, resource, schema } = target;
  const warnings: string[] = [];
  const read = readBody(request.body, request.headers["content-type"]);
  const mode = fieldValidationOf(request.query);
  const object = readObject(read, resource, schema, mode, warnings);
  placeInNamespace(object, request, resource);
  const body = store.create(resource.plural, object, writeOptions(request, target));
  return { code: 201, body, warnings };
};

export const update = (target: Target, request: ApiRequest): Answer => {
  const { resource, schema } = target;
  const warnings: string[] = [];
  const read = readBody(request.body, request.headers["content-type"]);
  const object = readObject(read, resource, schema, fieldValidationOf(request.query), warnings);
  placeInNamespace(object, request, resource);
  if (object.metadata.name !== nameOf(request)) {
    throw badRequest(
      `the name of the object (${object.metadata.name}) does not match the name on the URL (${nameOf(request)})`,
    );
  }
  return { code: 200, body: write(target, request, object), warnings };
};

const write = (target: Target, request: ApiRequest, object: KubeObject): KubeObject => {
  const { store, resource } = target;
  const options = writeOptions(request, target);
  if (request.path.subresource === "status")
    return store.updateStatus(resource.plural, object, options);
  return store.update(resource.plural, object, options);
};

const PATCHES = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
];

export const patch = (target: Target, request: ApiRequest): Answer => {
  const type = (request.headers["content-type"] ?? "").split(";")[0]?.trim() ?? "";
  if (!PATCHES.includes(type)) throw unsupported(type);
  if (request.query.has("force") && type !== "application/apply-patch+yaml") {
    throw invalidOptions("force", "Forbidden: may not be specified for non-apply patch");
  }
  if (type === "application/apply-patch+yaml") return apply(target, request);
  const { resource, schema } = target;
  const warnings: string[] = [];
  const { value, duplicates } = readBody(request.body, "application/json");
  const old = stored(target, request);
  const patched = patchedBy(type, old, value, target);
  const mode = fieldValidationOf(request.query);
  const object = readObject({ value: patched, duplicates }, resource, schema, mode, warnings);
  if (
    object.metadata.name !== nameOf(request) ||
    object.metadata.namespace !== old.metadata.namespace
  ) {
    throw badRequest("the name or the namespace of the object may not be changed by a patch");
  }
  return { code: 200, body: write(target, request, object), warnings };
};

const patchedBy = (
  type: string,
  old: KubeObject,
  patch: unknown,
  { resource, schema }: Target,
): unknown => {
  if (type === PATCHES[0]) return applyJsonPatch(old, patch);
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) {
    throw badRequest("error decoding patch: the patch must be an object");
  }
  if (type === PATCHES[1]) return applyMergePatch(old, patch);
  // Kinds that a CustomResourceDefinition defines have no strategies. Source: docs, "Custom Resources".
  if (resource.group === "monitoring.coreos.com") throw unsupported(type);
  return applyStrategicMerge(old, patch as Record<string, unknown>, schema);
};

const apply = (target: Target, request: ApiRequest): Answer => {
  const { store, resource, schema } = target;
  if (!request.query.get("fieldManager")) {
    throw invalidOptions("fieldManager", "Required value: is required for apply patch");
  }
  const { value, duplicates } = readBody(request.body, "application/apply-patch+yaml");
  const mode = fieldValidationOf(request.query);
  const warnings = mode === "Warn" ? duplicates.map((path) => `duplicate field "${path}"`) : [];
  if (mode === "Strict" && duplicates.length > 0) {
    throw badRequest(
      `error decoding YAML: duplicate field "${duplicates.join('", duplicate field "')}"`,
    );
  }
  const configuration = configurationOf(value, request, resource);
  const old = store.get(resource.plural, request.path.namespace, nameOf(request));
  const status = request.path.subresource === "status";
  if (status && !old) throw notFound(resource, nameOf(request));
  if (resource.status && !status) delete configuration.status;
  if (status) delete configuration.spec;
  const force = request.query.get("force") === "true";
  const writer = writerOf(request, resource);
  const merged = applyConfiguration(configuration, old, schema, writer, force);
  const { object } = decodeObject(merged, schema);
  object.metadata.name = nameOf(request);
  const options = { dryRun: isDryRun(request.query), byClient: true };
  if (!old) return { code: 201, body: store.create(resource.plural, object, options), warnings };
  if (status)
    return { code: 200, body: store.updateStatus(resource.plural, object, options), warnings };
  return { code: 200, body: store.update(resource.plural, object, options), warnings };
};

const configurationOf = (value: unknown, request: ApiRequest, resource: Resource): KubeObject => {
  const { apiVersion, kind } = (value ?? {}) as Partial<KubeObject>;
  if (apiVersion !== apiVersionOf(resource) || kind !== resource.kind) {
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${apiVersion}, expected: ${apiVersionOf(resource)}`,
    );
  }
  const configuration = structuredClone(value) as KubeObject;
  configuration.metadata ??= { name: nameOf(request) };
  configuration.metadata.name ??= nameOf(request);
  if (configuration.metadata.name !== nameOf(request)) {
    const { name } = configuration.metadata;
    throw badRequest(
      `the name of the object (${name}) does not match the name on the URL (${nameOf(request)})`,
    );
  }
  placeInNamespace(configuration, request, resource);
  return configuration;
};

const PROPAGATIONS = ["Background", "Foreground", "Orphan"];

export const deleteOptionsOf = (
  request: ApiRequest,
  resource: Resource,
): DeleteOptions & { dryRun?: boolean } => {
  const given =
    request.body.trim() === "" ? {} : readBody(request.body, request.headers["content-type"]).value;
  const { object } = decodeObject(
    given,
    structOf("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"),
  );
  const { query } = request;
  const propagation: unknown =
    object.propagationPolicy ?? query.get("propagationPolicy") ?? undefined;
  if (propagation !== undefined && !PROPAGATIONS.includes(propagation as string)) {
    const supported = '"Background", "Foreground", "Orphan"';
    throw new ApiFault(
      422,
      "Invalid",
      `DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: ${JSON.stringify(propagation)}: supported values: ${supported}`,
    );
  }
  const orphans: unknown =
    object.orphanDependents ?? (query.get("orphanDependents") === "true" || undefined);
  // Jobs keep their pods unless the client says otherwise. Source: docs, "Garbage Collection"; kubectl and helm say it.
  const fallback: Propagation =
    resource.kind === "Job" || orphans === true ? "Orphan" : "Background";
  const grace: unknown =
    object.gracePeriodSeconds ??
    (query.has("gracePeriodSeconds") ? Number(query.get("gracePeriodSeconds")) : undefined);
  return {
    propagation: (propagation as Propagation | undefined) ?? fallback,
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace as number }),
    ...(object.preconditions ? { preconditions: object.preconditions } : {}),
    dryRun: isDryRun(query) || (object.dryRun ?? []).includes("All"),
  };
};

export const remove = ({ store, resource }: Target, request: ApiRequest): Answer => {
  const options = deleteOptionsOf(request, resource);
  const { object, gone } = store.remove(
    resource.plural,
    request.path.namespace,
    nameOf(request),
    options,
  );
  if (!gone || resource.kind === "Pod") return { code: 200, body: object };
  const details = {
    name: object.metadata.name,
    ...(resource.group === "" ? {} : { group: resource.group }),
    kind: resource.plural,
    uid: object.metadata.uid,
  };
  return {
    code: 200,
    body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details },
  };
};

export const removeCollection = ({ store, resource }: Target, request: ApiRequest): Answer => {
  const options = deleteOptionsOf(request, resource);
  const selected = selectionOf(request.query, resource);
  const objects = store.list(resource.plural, request.path.namespace).filter(selected);
  for (const { metadata } of objects) {
    store.remove(resource.plural, metadata.namespace ?? null, metadata.name, options);
  }
  return { code: 200, body: listOf(resource, objects, { resourceVersion: String(store.version) }) };
};

/** Items of built-in kinds do not repeat their kind, as Kubernetes encodes lists. */
export const listOf = (
  resource: Resource,
  objects: readonly KubeObject[],
  metadata: Record<string, unknown>,
): unknown => ({
  kind: `${resource.kind}List`,
  apiVersion: apiVersionOf(resource),
  metadata,
  items:
    qualified(resource) === "servicemonitors.monitoring.coreos.com"
      ? objects
      : objects.map(({ apiVersion: _v, kind: _k, ...object }) => object),
});

export const list = (
  { store, resource }: Target,
  request: ApiRequest,
): { objects: KubeObject[]; metadata: Record<string, unknown> } => {
  const { query } = request;
  const selected = selectionOf(query, resource);
  const all = store.list(resource.plural, request.path.namespace).filter(selected);
  const limit = Number(query.get("limit") ?? 0);
  const from = query.get("continue");
  const after = from ? Buffer.from(from, "base64url").toString() : null;
  const key = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ""}/${metadata.name}`;
  const rest = after === null ? all : all.filter((object) => key(object) > after);
  const objects = limit > 0 ? rest.slice(0, limit) : rest;
  const last = objects.at(-1);
  const metadata: Record<string, unknown> = { resourceVersion: String(store.version) };
  if (last && objects.length < rest.length) {
    metadata.continue = Buffer.from(key(last)).toString("base64url");
    const isSelected = query.has("labelSelector") || query.has("fieldSelector");
    if (!isSelected) metadata.remainingItemCount = rest.length - objects.length;
  }
  return { objects, metadata };
};
