// Scale, log, eviction, binding and tokens. Source: API reference, "Scale", "Eviction", "Binding", "TokenRequest";
// docs, "API-initiated Eviction", "Managing Service Accounts".
import { trackUpdate } from "../apply/ownership.ts";
import { ApiFault, badRequest, notFound } from "../fault.ts";
import type { KubeObject } from "../object-store.ts";
import { applyJsonPatch } from "../patch/json-patch.ts";
import { applyMergePatch } from "../patch/merge-patch.ts";
import { apiVersionOf } from "../resources.ts";
import { structOf } from "../schemas/schema.ts";
import { decodeObject } from "../validation/decode.ts";
import { readBody } from "./body.ts";
import { type Answer, deleteOptionsOf, stored, type Target } from "./objects.ts";
import { type ApiRequest, isDryRun } from "./request.ts";

export const SCALED: readonly string[] = ["deployments", "replicasets", "statefulsets"];

const scaleOf = ({ metadata, spec, status }: KubeObject): KubeObject => ({
  kind: "Scale",
  apiVersion: "autoscaling/v1",
  metadata: {
    name: metadata.name,
    ...(metadata.namespace ? { namespace: metadata.namespace } : {}),
    ...(metadata.uid ? { uid: metadata.uid } : {}),
    ...(metadata.resourceVersion ? { resourceVersion: metadata.resourceVersion } : {}),
    ...(metadata.creationTimestamp ? { creationTimestamp: metadata.creationTimestamp } : {}),
  },
  spec: { replicas: spec.replicas },
  status: { replicas: status?.replicas ?? 0, selector: selectorText(spec.selector) },
});

const selectorText = (selector: { matchLabels?: Record<string, string> }): string =>
  Object.entries(selector.matchLabels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(",");

export const scale = (target: Target, request: ApiRequest): Answer => {
  const object = stored(target, request);
  if (request.verb === "get") return { code: 200, body: scaleOf(object) };
  const read = readBody(request.body, "application/json").value;
  const type = request.headers["content-type"]?.split(";")[0];
  const changed =
    request.verb === "update"
      ? read
      : type === "application/json-patch+json"
        ? applyJsonPatch(scaleOf(object), read)
        : applyMergePatch(scaleOf(object), read);
  const given = decodeObject(changed, structOf("io.k8s.api.autoscaling.v1.Scale")).object;
  const { resourceVersion } = given.metadata ?? {};
  const next = { ...object, spec: { ...object.spec, replicas: given.spec?.replicas ?? 0 } };
  if (resourceVersion) next.metadata.resourceVersion = resourceVersion;
  const manager =
    request.query.get("fieldManager") ?? request.headers["user-agent"]?.split("/")[0] ?? "";
  const writer = { manager, apiVersion: apiVersionOf(target.resource), subresource: "scale" };
  const body = target.store.update(target.resource.plural, next, {
    dryRun: isDryRun(request.query),
    track: (stored, old) => trackUpdate(stored, old, target.schema, writer),
  });
  return { code: 200, body: scaleOf(body) };
};

/** A disruption budget that allows no disruption refuses an eviction. Source: docs, "API-initiated Eviction". */
export const evict = (target: Target, request: ApiRequest): Answer => {
  const pod = stored(target, request);
  const { store } = target;
  const { namespace = "default", name, labels = {} } = pod.metadata;
  const budgets = store
    .list("poddisruptionbudgets", namespace)
    .filter(({ spec }) =>
      Object.entries((spec?.selector?.matchLabels ?? {}) as Record<string, string>).every(
        ([key, value]) => labels[key] === value,
      ),
    );
  const full = budgets.find(({ status }) => (status?.disruptionsAllowed ?? 0) <= 0);
  if (full) {
    throw new ApiFault(
      429,
      "TooManyRequests",
      "Cannot evict pod as it would violate the pod's disruption budget.",
      {
        causes: [
          {
            reason: "DisruptionBudget",
            message: `The disruption budget ${full.metadata.name} needs ${full.status?.desiredHealthy ?? 0} healthy pods and has ${full.status?.currentHealthy ?? 0} currently`,
            field: "",
          },
        ],
      },
    );
  }
  const given = readBody(request.body, "application/json").value as KubeObject;
  const options = deleteOptionsOf(
    { ...request, body: JSON.stringify(given.deleteOptions ?? {}) },
    target.resource,
  );
  store.remove("pods", namespace, name, options);
  return { code: 201, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" } };
};

export const bind = (target: Target, request: ApiRequest): Answer => {
  const pod = stored(target, request);
  const given = readBody(request.body, "application/json").value as KubeObject;
  if (pod.spec.nodeName) {
    throw new ApiFault(
      409,
      "Conflict",
      `Operation cannot be fulfilled on pods/binding "${pod.metadata.name}": pod ${pod.metadata.name} is already assigned to node "${pod.spec.nodeName}"`,
    );
  }
  if (!given.target?.name) throw badRequest("target.name: Required value");
  target.store.update("pods", { ...pod, spec: { ...pod.spec, nodeName: given.target.name } });
  return { code: 201, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" } };
};

export type IssueToken = (namespace: string, name: string, seconds: number) => string;

const YEAR_SECONDS = 365 * 24 * 3600;

export const requestToken = (target: Target, request: ApiRequest, issue: IssueToken): Answer => {
  const account = stored(target, request);
  const { value } = readBody(request.body, request.headers["content-type"]);
  const { object } = decodeObject(value, structOf("io.k8s.api.authentication.v1.TokenRequest"));
  const seconds: number = object.spec?.expirationSeconds ?? 3600;
  if (seconds < 600 || seconds > YEAR_SECONDS) {
    throw new ApiFault(
      422,
      "Invalid",
      `TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: ${seconds}: may not specify a duration less than 10 minutes`,
    );
  }
  const token = issue(account.metadata.namespace ?? "", account.metadata.name, seconds);
  const expirationTimestamp = `${new Date(Date.now() + seconds * 1000).toISOString().slice(0, 19)}Z`;
  const body = {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name: account.metadata.name, namespace: account.metadata.namespace },
    spec: { audiences: object.spec?.audiences ?? [], expirationSeconds: seconds },
    status: { token, expirationTimestamp },
  };
  return { code: 201, body };
};

/** Writes the lines of a container; ends when the client leaves or the log does. */
export interface PodLogs {
  read(
    pod: KubeObject,
    container: string,
    options: { follow: boolean; tailLines: number | null; timestamps: boolean; previous: boolean },
    signal: AbortSignal,
  ): AsyncIterable<string | Uint8Array>;
}

export const logOf = (
  target: Target,
  request: ApiRequest,
  logs: PodLogs | undefined,
): AsyncIterable<string | Uint8Array> => {
  const pod = stored(target, request);
  const { query } = request;
  const names: string[] = (pod.spec.containers as { name: string }[]).map(({ name }) => name);
  const initial: string[] = ((pod.spec.initContainers ?? []) as { name: string }[]).map(
    ({ name }) => name,
  );
  const container = query.get("container") ?? "";
  if (container === "" && names.length > 1) {
    const init = initial.length > 0 ? ` or one of the init containers: [${initial.join(" ")}]` : "";
    throw badRequest(
      `a container name must be specified for pod ${pod.metadata.name}, choose one of: [${names.join(" ")}]${init}`,
    );
  }
  const chosen = container || (names[0] ?? "");
  if (![...names, ...initial].includes(chosen)) {
    throw badRequest(`container ${chosen} is not valid for pod ${pod.metadata.name}`);
  }
  if (!pod.spec.nodeName)
    throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
  if (!logs) throw notFound(target.resource, pod.metadata.name);
  const tail = query.get("tailLines");
  return logs.read(
    pod,
    chosen,
    {
      follow: query.get("follow") === "true",
      tailLines: tail === null ? null : Number(tail),
      timestamps: query.get("timestamps") === "true",
      previous: query.get("previous") === "true",
    },
    request.signal,
  );
};
