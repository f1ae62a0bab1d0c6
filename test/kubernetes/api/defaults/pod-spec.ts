// Values of a pod's specification that the server fills in, also within the templates of workloads. Source: API
// reference, "PodSpec", "Container", "Probe", "Volume" (the default of each field).
import type { Fields } from "../object-store.ts";

const fill = (target: Fields, values: Fields): void => {
  for (const [field, value] of Object.entries(values)) target[field] ??= value;
};

export const defaultPodSpec = (spec: Fields): void => {
  fill(spec, {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
  });
  // One is the old name of the other. Source: API reference, "PodSpec" (serviceAccount).
  if (spec.serviceAccountName || spec.serviceAccount) {
    spec.serviceAccountName ||= spec.serviceAccount;
    spec.serviceAccount = spec.serviceAccountName;
  }
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    defaultContainer(container);
  }
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
};

const defaultContainer = (container: Fields): void => {
  fill(container, {
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: pullPolicyOf(container.image ?? ""),
    resources: {},
  });
  for (const port of container.ports ?? []) port.protocol ??= "TCP";
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.fieldRef) valueFrom.fieldRef.apiVersion ??= "v1";
  }
  for (const name of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    if (container[name]) defaultProbe(container[name]);
  }
  for (const hook of [container.lifecycle?.postStart, container.lifecycle?.preStop]) {
    if (hook?.httpGet) fill(hook.httpGet, { path: "/", scheme: "HTTP" });
  }
};

/** Source: docs, "Images" (default image pull policy). */
const pullPolicyOf = (image: string): string => {
  if (image.includes("@")) return "IfNotPresent";
  const tag = /:([^:/]+)$/.exec(image)?.[1] ?? "latest";
  return tag === "latest" ? "Always" : "IfNotPresent";
};

const defaultProbe = (probe: Fields): void => {
  fill(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
  if (probe.httpGet) fill(probe.httpGet, { path: "/", scheme: "HTTP" });
  if (probe.grpc) fill(probe.grpc, { service: "" });
};

const MODE = 0o644;

const defaultVolume = (volume: Fields): void => {
  if (Object.keys(volume).filter((field) => field !== "name").length === 0) volume.emptyDir = {};
  for (const source of ["secret", "configMap", "downwardAPI", "projected"]) {
    if (volume[source]) volume[source].defaultMode ??= MODE;
  }
  if (volume.hostPath) volume.hostPath.type ??= "";
  const items = [...(volume.downwardAPI?.items ?? [])];
  for (const source of volume.projected?.sources ?? []) {
    if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= 3600;
    items.push(...(source.downwardAPI?.items ?? []));
  }
  for (const { fieldRef } of items) if (fieldRef) fieldRef.apiVersion ??= "v1";
};
