// The columns of each kind. Source: docs, "kubectl get" and the output of kubectl 1.33; a column of priority 1 is for
// `-o wide`.
import type { KubeObject } from "../object-store.ts";
import {
  age,
  containerImages,
  containerNames,
  durationText,
  labelsText,
  orNone,
  selectorText,
} from "./cells.ts";
import { podCells } from "./pods.ts";

export type Column = {
  name: string;
  type: "string" | "integer";
  wide: boolean;
  cell: (object: KubeObject) => string | number;
};

const column = (name: string, cell: Column["cell"]): Column => ({
  name,
  type: "string",
  wide: false,
  cell,
});
const count = (name: string, cell: Column["cell"]): Column => ({
  ...column(name, cell),
  type: "integer",
});
const wide = (name: string, cell: Column["cell"]): Column => ({
  ...column(name, cell),
  wide: true,
});

const NAME = column("Name", ({ metadata }) => metadata.name);
const AGE = column("Age", ({ metadata }) => age(metadata.creationTimestamp));
const CREATED = column("Created At", ({ metadata }) => metadata.creationTimestamp ?? "<unknown>");
const OF_TEMPLATE = [
  wide("Containers", ({ spec }) => containerNames(spec.template?.spec)),
  wide("Images", ({ spec }) => containerImages(spec.template?.spec)),
];
const SELECTOR = wide("Selector", ({ spec }) => selectorText(spec.selector));

type Port = { port: number; protocol?: string; nodePort?: number; name?: string };

const externalOf = ({ spec, status }: KubeObject): string => {
  const given: string[] = spec.externalIPs ?? [];
  const ingress = (
    (status?.loadBalancer?.ingress ?? []) as { ip?: string; hostname?: string }[]
  ).map(({ ip, hostname }) => ip ?? hostname ?? "");
  if (spec.type === "ExternalName") return spec.externalName;
  if (spec.type === "LoadBalancer") return [...ingress, ...given].join(",") || "<pending>";
  return orNone(given.join(","));
};

const portsOf = ({ spec }: KubeObject): string =>
  orNone(
    ((spec.ports ?? []) as Port[])
      .map(
        ({ port, nodePort, protocol }) =>
          `${port}${nodePort ? `:${nodePort}` : ""}/${protocol ?? "TCP"}`,
      )
      .join(","),
  );

type Subset = { addresses?: { ip: string }[]; ports?: { port: number }[] };

const endpointsOf = ({ subsets }: KubeObject): string => {
  const all = ((subsets ?? []) as Subset[]).flatMap(({ addresses = [], ports = [] }) =>
    addresses.flatMap(({ ip }) =>
      ports.length === 0 ? [ip] : ports.map(({ port }) => `${ip}:${port}`),
    ),
  );
  const shown = all.slice(0, 3).join(",");
  return orNone(all.length > 3 ? `${shown} + ${all.length - 3} more...` : shown);
};

const jobStatus = ({ metadata, spec, status }: KubeObject): string => {
  const has = (type: string): boolean =>
    ((status?.conditions ?? []) as { type: string; status: string }[]).some(
      (condition) => condition.type === type && condition.status === "True",
    );
  if (has("Complete")) return "Complete";
  if (has("Failed")) return "Failed";
  if (metadata.deletionTimestamp) return "Terminating";
  if (spec.suspend) return "Suspended";
  return has("FailureTarget")
    ? "FailureTarget"
    : has("SuccessCriteriaMet")
      ? "SuccessCriteriaMet"
      : "Running";
};

const jobDuration = ({ status }: KubeObject): string => {
  if (!status?.startTime) return "";
  const end = status.completionTime ? Date.parse(status.completionTime) : Date.now();
  return durationText(end - Date.parse(status.startTime));
};

const nodeStatus = ({ spec, status }: KubeObject): string => {
  const ready = ((status?.conditions ?? []) as { type: string; status: string }[]).find(
    ({ type }) => type === "Ready",
  );
  const text = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return spec?.unschedulable ? `${text},SchedulingDisabled` : text;
};

const nodeAddress =
  (type: string) =>
  ({ status }: KubeObject): string =>
    orNone(
      ((status?.addresses ?? []) as { type: string; address: string }[]).find(
        (one) => one.type === type,
      )?.address,
    );

const rolesOf = ({ metadata }: KubeObject): string =>
  orNone(
    Object.keys(metadata.labels ?? {})
      .filter((label) => label.startsWith("node-role.kubernetes.io/"))
      .map((label) => label.split("/")[1])
      .join(","),
  );

type Subject = { kind: string; name: string; namespace?: string };

const subjects =
  (kind: string) =>
  ({ subjects: all }: KubeObject): string =>
    ((all ?? []) as Subject[])
      .filter((subject) => subject.kind === kind)
      .map(({ name, namespace }) => (namespace ? `${namespace}/${name}` : name))
      .join(", ");

const BINDING = [
  NAME,
  column("Role", ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`),
  AGE,
  wide("Users", subjects("User")),
  wide("Groups", subjects("Group")),
  wide("ServiceAccounts", subjects("ServiceAccount")),
];

const size =
  (...fields: string[]) =>
  (object: KubeObject): number =>
    fields.reduce((sum, field) => sum + Object.keys(object[field] ?? {}).length, 0);

const MODES: Record<string, string> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  Pod: [
    NAME,
    column("Ready", (pod) => podCells(pod).ready),
    column("Status", (pod) => podCells(pod).status),
    column("Restarts", (pod) => podCells(pod).restarts),
    AGE,
    wide("IP", ({ status }) => orNone(status?.podIP)),
    wide("Node", ({ spec }) => orNone(spec?.nodeName)),
    wide("Nominated Node", ({ status }) => orNone(status?.nominatedNodeName)),
    wide("Readiness Gates", () => "<none>"),
  ],
  Deployment: [
    NAME,
    column("Ready", ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas}`),
    count("Up-to-date", ({ status }) => status?.updatedReplicas ?? 0),
    count("Available", ({ status }) => status?.availableReplicas ?? 0),
    AGE,
    ...OF_TEMPLATE,
    SELECTOR,
  ],
  ReplicaSet: [
    NAME,
    count("Desired", ({ spec }) => spec.replicas),
    count("Current", ({ status }) => status?.replicas ?? 0),
    count("Ready", ({ status }) => status?.readyReplicas ?? 0),
    AGE,
    ...OF_TEMPLATE,
    SELECTOR,
  ],
  StatefulSet: [
    NAME,
    column("Ready", ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas}`),
    AGE,
    ...OF_TEMPLATE,
  ],
  ControllerRevision: [
    NAME,
    column("Controller", ({ metadata }) => {
      const owner = metadata.ownerReferences?.find(({ controller }) => controller);
      return owner
        ? `${owner.kind.toLowerCase()}.${owner.apiVersion.split("/")[0]}/${owner.name}`
        : "<none>";
    }),
    count("Revision", ({ revision }) => revision),
    AGE,
  ],
  Job: [
    NAME,
    column("Status", jobStatus),
    column(
      "Completions",
      ({ spec, status }) => `${status?.succeeded ?? 0}/${spec.completions ?? 1}`,
    ),
    column("Duration", jobDuration),
    AGE,
    ...OF_TEMPLATE,
    SELECTOR,
  ],
  Service: [
    NAME,
    column("Type", ({ spec }) => spec.type),
    column("Cluster-IP", ({ spec }) => orNone(spec.clusterIP)),
    column("External-IP", externalOf),
    column("Port(s)", portsOf),
    AGE,
    wide("Selector", ({ spec }) => labelsText(spec.selector)),
  ],
  Endpoints: [NAME, column("Endpoints", endpointsOf), AGE],
  EndpointSlice: [
    NAME,
    column("AddressType", ({ addressType }) => addressType),
    column(
      "Ports",
      ({ ports }) => ((ports ?? []) as Port[]).map(({ port }) => port).join(",") || "<unset>",
    ),
    column("Endpoints", ({ endpoints }) =>
      orNone(
        ((endpoints ?? []) as { addresses: string[] }[])
          .flatMap(({ addresses }) => addresses)
          .join(","),
      ),
    ),
    AGE,
  ],
  Ingress: [
    NAME,
    column("Class", ({ spec }) => orNone(spec.ingressClassName)),
    column(
      "Hosts",
      ({ spec }) =>
        ((spec.rules ?? []) as { host?: string }[]).map(({ host }) => host ?? "*").join(",") || "*",
    ),
    column("Address", ({ status }) =>
      ((status?.loadBalancer?.ingress ?? []) as { ip?: string; hostname?: string }[])
        .map(({ ip, hostname }) => ip ?? hostname)
        .join(","),
    ),
    column("Ports", ({ spec }) => ((spec.tls ?? []).length > 0 ? "80, 443" : "80")),
    AGE,
  ],
  NetworkPolicy: [NAME, column("Pod-Selector", ({ spec }) => selectorText(spec?.podSelector)), AGE],
  ConfigMap: [NAME, count("Data", size("data", "binaryData")), AGE],
  Secret: [NAME, column("Type", ({ type }) => type), count("Data", size("data")), AGE],
  ServiceAccount: [NAME, count("Secrets", ({ secrets }) => (secrets ?? []).length), AGE],
  Namespace: [NAME, column("Status", ({ status }) => status?.phase ?? ""), AGE],
  Node: [
    NAME,
    column("Status", nodeStatus),
    column("Roles", rolesOf),
    AGE,
    column("Version", ({ status }) => status?.nodeInfo?.kubeletVersion ?? ""),
    wide("Internal-IP", nodeAddress("InternalIP")),
    wide("External-IP", nodeAddress("ExternalIP")),
    wide("OS-Image", ({ status }) => status?.nodeInfo?.osImage ?? "<unknown>"),
    wide("Kernel-Version", ({ status }) => status?.nodeInfo?.kernelVersion ?? "<unknown>"),
    wide(
      "Container-Runtime",
      ({ status }) => status?.nodeInfo?.containerRuntimeVersion ?? "<unknown>",
    ),
  ],
  PersistentVolumeClaim: [
    NAME,
    column("Status", ({ status }) => status?.phase ?? "Pending"),
    column("Volume", ({ spec }) => spec.volumeName ?? ""),
    column("Capacity", ({ status }) => status?.capacity?.storage ?? ""),
    column("Access Modes", ({ status }) =>
      ((status?.accessModes ?? []) as string[]).map((mode) => MODES[mode]).join(","),
    ),
    column("StorageClass", ({ spec }) => spec.storageClassName ?? ""),
    column("VolumeAttributesClass", () => "<unset>"),
    AGE,
    wide("VolumeMode", ({ spec }) => spec.volumeMode ?? "<unset>"),
  ],
  PodDisruptionBudget: [
    NAME,
    column("Min Available", ({ spec }) => String(spec?.minAvailable ?? "N/A")),
    column("Max Unavailable", ({ spec }) => String(spec?.maxUnavailable ?? "N/A")),
    count("Allowed Disruptions", ({ status }) => status?.disruptionsAllowed ?? 0),
    AGE,
  ],
  Event: [
    column("Last Seen", (event) =>
      age(event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp),
    ),
    column("Type", ({ type }) => type ?? ""),
    column("Reason", ({ reason }) => reason ?? ""),
    column(
      "Object",
      ({ involvedObject }) => `${involvedObject.kind.toLowerCase()}/${involvedObject.name}`,
    ),
    wide("Subobject", ({ involvedObject }) => involvedObject.fieldPath ?? ""),
    wide("Source", ({ source }) => [source?.component, source?.host].filter(Boolean).join(", ")),
    column("Message", ({ message }) => (message ?? "").trim()),
    wide("First Seen", (event) => age(event.firstTimestamp ?? event.metadata.creationTimestamp)),
    wide("Count", (event) => String(event.count ?? 1)),
    wide("Name", ({ metadata }) => metadata.name),
  ],
  Role: [NAME, CREATED],
  ClusterRole: [NAME, CREATED],
  RoleBinding: BINDING,
  ClusterRoleBinding: BINDING,
  Lease: [NAME, column("Holder", ({ spec }) => spec?.holderIdentity ?? ""), AGE],
};

export const columnsOf = (kind: string): readonly Column[] => COLUMNS[kind] ?? [NAME, AGE];
