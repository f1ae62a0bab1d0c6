// Admission plugins add these fields to a new pod. Source: docs, "Admission Control in Kubernetes" (ServiceAccount,
// DefaultTolerationSeconds, Priority); "Configure Service Accounts for Pods"; "Configure Quality of Service for Pods".
import { randomBytes } from "node:crypto";
import { forbidden } from "../fault.ts";
import type { Fields, KubeObject } from "../object-store.ts";
import type { Resource } from "../resources.ts";
import { nanoOf } from "../validation/quantity.ts";

const TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";
const TOKEN_SECONDS = 3607;
/** Classes are not served, so that there are only those that every cluster has. */
const SYSTEM_CLASSES = new Map([
  ["system-cluster-critical", 2_000_000_000],
  ["system-node-critical", 2_000_001_000],
]);
const TOLERATION_SECONDS = 300;

export const admitPod = (
  resource: Resource,
  pod: KubeObject,
  accountOf: (namespace: string, name: string) => KubeObject | null,
): void => {
  const { spec, metadata } = pod;
  spec.enableServiceLinks ??= true;
  spec.serviceAccountName ||= "default";
  spec.serviceAccount = spec.serviceAccountName;
  const namespace = metadata.namespace ?? "default";
  const account = accountOf(namespace, spec.serviceAccountName);
  if (!account) {
    const name = spec.serviceAccountName;
    const why = `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`;
    throw forbidden(resource, metadata.name, why);
  }
  if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true)
    mountToken(spec);
  if (!spec.imagePullSecrets && account.imagePullSecrets) {
    spec.imagePullSecrets = structuredClone(account.imagePullSecrets);
  }
  const priorityClass = spec.priorityClassName ?? "";
  if (priorityClass !== "" && !SYSTEM_CLASSES.has(priorityClass)) {
    throw forbidden(
      resource,
      metadata.name,
      `no PriorityClass with name ${priorityClass} was found`,
    );
  }
  spec.preemptionPolicy ??= "PreemptLowerPriority";
  spec.priority ??= SYSTEM_CLASSES.get(priorityClass) ?? 0;
  for (const key of ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]) {
    const tolerations: Fields[] = spec.tolerations ?? [];
    const tolerated = tolerations.some(
      (one) => (one.key === key || !one.key) && one.effect !== "NoSchedule",
    );
    if (tolerated) continue;
    const toleration = {
      key,
      operator: "Exists",
      effect: "NoExecute",
      tolerationSeconds: TOLERATION_SECONDS,
    };
    spec.tolerations = [...tolerations, toleration];
  }
  for (const { resources } of [...(spec.initContainers ?? []), ...spec.containers]) {
    // A limit is the request where none is given. Source: docs, "Resource Management for Pods and Containers".
    if (resources?.limits) resources.requests = { ...resources.limits, ...resources.requests };
  }
  pod.status = { phase: "Pending", qosClass: qosOf(spec) };
};

const mountToken = (spec: Fields): void => {
  const containers: Fields[] = [...(spec.initContainers ?? []), ...spec.containers];
  const unmounted = containers.filter(
    ({ volumeMounts }) =>
      !(volumeMounts ?? []).some((mount: Fields) => mount.mountPath === TOKEN_FOLDER),
  );
  if (unmounted.length === 0) return;
  const letters = "bcdfghjklmnpqrstvwxz2456789";
  const suffix = [...randomBytes(5)].map((byte) => letters[byte % letters.length]).join("");
  const name = `kube-api-access-${suffix}`;
  const sources = [
    { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: "token" } },
    { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
    {
      downwardAPI: {
        items: [
          { path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } },
        ],
      },
    },
  ];
  spec.volumes = [...(spec.volumes ?? []), { name, projected: { sources, defaultMode: 0o644 } }];
  for (const container of unmounted) {
    const mount = { name, readOnly: true, mountPath: TOKEN_FOLDER };
    container.volumeMounts = [...(container.volumeMounts ?? []), mount];
  }
};

const qosOf = (spec: Fields): string => {
  const all: Fields[] = [...(spec.initContainers ?? []), ...spec.containers].map(
    ({ resources }) => resources ?? {},
  );
  const named = (fields: Fields | undefined): string[] =>
    ["cpu", "memory"].filter((name) => fields?.[name] !== undefined);
  if (all.every(({ limits, requests }) => named(limits).length + named(requests).length === 0)) {
    return "BestEffort";
  }
  const guaranteed = all.every(
    ({ limits, requests }) =>
      named(limits).length === 2 &&
      named(limits).every(
        (name) => nanoOf(limits[name]) === nanoOf(requests?.[name] ?? limits[name]),
      ),
  );
  return guaranteed ? "Guaranteed" : "Burstable";
};
