// Answers the requests that name a resource: who may do it, then what is done. Source: docs, "Controlling Access to the
// Kubernetes API", "Kubernetes API Concepts".
import { ApiFault } from "../fault.ts";
import type { KubeObject } from "../object-store.ts";
import type { Attributes, Authorizer } from "../rbac/authorize.ts";
import type { Resource } from "../resources.ts";
import type { MemoryStore } from "../store/memory-store.ts";
import { partial, tableOf } from "../tables/table.ts";
import { podSecurityViolation } from "../validation/pod-security.ts";
import { verbsOf } from "./discovery.ts";
import { formOf } from "./media-types.ts";
import {
  type Answer,
  create,
  list,
  listOf,
  patch,
  remove,
  removeCollection,
  stored,
  type Target,
  targetOf,
  update,
} from "./objects.ts";
import type { ApiRequest, ResourcePath } from "./request.ts";
import { review } from "./reviews.ts";
import { selectedName } from "./selectors.ts";
import {
  bind,
  evict,
  type IssueToken,
  logOf,
  type PodLogs,
  requestToken,
  SCALED,
  scale,
} from "./subresources.ts";
import { startWatch } from "./watch.ts";

export type Services = {
  store: MemoryStore;
  authorizer: Authorizer;
  issueToken: IssueToken;
  logs: PodLogs | undefined;
  audit: AuditEvent[];
};

/** A request that was authorized or refused. Source: docs, "Auditing". */
export type AuditEvent = Attributes & { user: string; allowed: boolean };

/** Where an answer goes. */
export interface Reply {
  json(code: number, body: unknown, warnings: readonly string[]): void;
  /** Begins a stream; what it returns writes to it and ends it. */
  stream(type: string): { write(text: string | Uint8Array): void; end(): void };
}

const NO_RESOURCE = "the server could not find the requested resource";

export const resourceOf = (
  store: MemoryStore,
  { group, version, plural }: ResourcePath,
): Resource => {
  const resource = store.resources.find(
    (one) => one.group === group && one.version === version && one.plural === plural,
  );
  if (!resource) throw new ApiFault(404, "NotFound", NO_RESOURCE);
  return resource;
};

export const dispatch = (
  services: Services,
  request: ApiRequest,
  reply: Reply,
): Promise<void> | void => {
  const { path, verb, user, query } = request;
  const resource = resourceOf(services.store, path);
  if (resource.namespaced && path.namespace === null && !["list", "watch"].includes(verb)) {
    throw new ApiFault(
      405,
      "MethodNotAllowed",
      "the server does not allow this method on the requested resource",
    );
  }
  if (!resource.namespaced && path.namespace !== null)
    throw new ApiFault(404, "NotFound", NO_RESOURCE);
  const attributes: Attributes = {
    verb,
    group: path.group,
    resource: path.plural,
    subresource: path.subresource,
    namespace: path.namespace ?? (resource.kind === "Namespace" ? path.name : null),
    name: path.name ?? selectedName(query),
  };
  const allowed = services.authorizer.allows(user, attributes);
  services.audit.push({ ...attributes, user: user.name, allowed });
  services.authorizer.check(user, resource, attributes);
  if (path.subresource === "" && !verbsOf(resource).includes(verb)) {
    throw new ApiFault(
      405,
      "MethodNotAllowed",
      "the server does not allow this method on the requested resource",
    );
  }
  const target = targetOf(services.store, resource);
  if (path.subresource === "log") return sendLog(target, request, services.logs, reply);
  if (verb === "watch") {
    watch(target, request, reply);
    return undefined;
  }
  const { code, body, warnings = [] } = answer(services, target, request);
  reply.json(code, body, warnings);
  return undefined;
};

const answer = (services: Services, target: Target, request: ApiRequest): Answer => {
  const { verb, path } = request;
  const { resource } = target;
  if (resource.virtual) return review(resource, services.authorizer, request);
  if (path.subresource !== "" && path.subresource !== "status")
    return subresource(services, target, request);
  if (path.subresource === "status" && !resource.status)
    throw new ApiFault(404, "NotFound", NO_RESOURCE);
  switch (verb) {
    case "get":
      return { code: 200, body: present(stored(target, request), target, request) };
    case "list":
      return presentList(target, request);
    case "create":
      guardGrant(services, target, request);
      return presented(create(target, request), target, request);
    case "update":
      guardGrant(services, target, request);
      return presented(update(target, request), target, request);
    case "patch":
      guardGrant(services, target, request);
      return presented(patch(target, request), target, request);
    case "delete":
      return remove(target, request);
    default:
      return removeCollection(target, request);
  }
};

/** Checked on the object as it would be stored, so that a patch cannot hide a rule. */
const guardGrant = (services: Services, target: Target, request: ApiRequest): void => {
  if (!target.resource.group.startsWith("rbac.")) return;
  const query = new URLSearchParams(request.query);
  query.set("dryRun", "All");
  const dry = { ...request, query };
  const change = { create, update, patch }[request.verb as "create" | "update" | "patch"];
  services.authorizer.checkGrant(
    request.user,
    target.resource,
    change(target, dry).body as KubeObject,
  );
};

const presented = (done: Answer, target: Target, request: ApiRequest): Answer => {
  const object = done.body as KubeObject;
  const namespace = target.store.get("namespaces", null, object.metadata.namespace ?? "");
  const violation = podSecurityViolation(namespace, object, "warn");
  const warnings = [...(done.warnings ?? []), ...(violation ? [`would ${violation}`] : [])];
  return { code: done.code, body: present(object, target, request), warnings };
};

const present = (object: KubeObject, { resource }: Target, request: ApiRequest): unknown => {
  const form = formOf(request.headers.accept, ["Table", "PartialObjectMetadata"]);
  if (form === "PartialObjectMetadata") return partial(object);
  if (form !== "Table") return object;
  const { resourceVersion } = object.metadata;
  const include = request.query.get("includeObject");
  return tableOf(resource.kind, [object], { resourceVersion }, { include, headers: true });
};

const presentList = (target: Target, request: ApiRequest): Answer => {
  const { resource } = target;
  const { objects, metadata } = list(target, request);
  const form = formOf(request.headers.accept, ["Table", "PartialObjectMetadata"]);
  if (form === "Table") {
    const include = request.query.get("includeObject");
    return {
      code: 200,
      body: tableOf(resource.kind, objects, metadata, { include, headers: true }),
    };
  }
  if (form === "PartialObjectMetadata") {
    const items = objects.map((object) => ({ metadata: object.metadata }));
    const body = {
      kind: "PartialObjectMetadataList",
      apiVersion: "meta.k8s.io/v1",
      metadata,
      items,
    };
    return { code: 200, body };
  }
  return { code: 200, body: listOf(resource, objects, metadata) };
};

const watch = (target: Target, request: ApiRequest, reply: Reply): void => {
  const form = formOf(request.headers.accept, ["Table", "PartialObjectMetadata"]);
  const include = request.query.get("includeObject");
  const output = reply.stream("application/json");
  startWatch(
    target,
    request,
    ({ type, object }, first) => {
      const isObject = type !== "ERROR";
      const shown =
        form === "Table" && isObject
          ? tableOf(
              target.resource.kind,
              type === "BOOKMARK" ? [] : [object as KubeObject],
              { resourceVersion: (object as KubeObject).metadata.resourceVersion },
              { include, headers: first },
            )
          : form === "PartialObjectMetadata" && isObject
            ? partial(object as KubeObject)
            : object;
      output.write(`${JSON.stringify({ type, object: shown })}\n`);
    },
    () => output.end(),
  );
};

const sendLog = async (
  target: Target,
  request: ApiRequest,
  logs: PodLogs | undefined,
  reply: Reply,
): Promise<void> => {
  if (target.resource.kind !== "Pod") throw new ApiFault(404, "NotFound", NO_RESOURCE);
  const lines = logOf(target, request, logs);
  const output = reply.stream("text/plain");
  for await (const line of lines) output.write(line);
  output.end();
};

const subresource = ({ issueToken }: Services, target: Target, request: ApiRequest): Answer => {
  const { plural } = target.resource;
  const { subresource: name } = request.path;
  if (name === "scale" && SCALED.includes(plural)) return scale(target, request);
  if (name === "token" && plural === "serviceaccounts")
    return requestToken(target, request, issueToken);
  if (plural === "pods" && name === "eviction") return evict(target, request);
  if (plural === "pods" && name === "binding") return bind(target, request);
  throw new ApiFault(404, "NotFound", NO_RESOURCE);
};
