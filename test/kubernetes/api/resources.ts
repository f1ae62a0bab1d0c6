// The resources that the server has. Source: API reference of v1.33, one row for each resource; short names and
// categories as `kubectl api-resources -o wide` lists them (docs, "kubectl reference").

export type Resource = {
  group: string;
  version: string;
  plural: string;
  singular: string;
  kind: string;
  namespaced: boolean;
  shortNames: readonly string[];
  /** Members of "all", which `kubectl get all` reads. */
  all: boolean;
  /** The status is a subresource: writes of the object leave it alone, and writes of the status change nothing else. */
  status: boolean;
  /** `metadata.generation` counts changes of the specification. */
  generation: boolean;
  /** The object is answered and not stored, as reviews of access are. */
  virtual: boolean;
};

type Options = Partial<
  Pick<Resource, "shortNames" | "all" | "status" | "generation" | "virtual" | "namespaced">
>;

const row = (group: string, plural: string, kind: string, options: Options = {}): Resource => ({
  group,
  version: "v1",
  plural,
  singular: kind.toLowerCase(),
  kind,
  namespaced: true,
  shortNames: [],
  all: false,
  status: false,
  generation: false,
  virtual: false,
  ...options,
});

const specified: Options = { status: true, generation: true };
const cluster: Options = { namespaced: false };
const RBAC = "rbac.authorization.k8s.io";
const NETWORKING = "networking.k8s.io";

export const RESOURCES: readonly Resource[] = [
  row("", "namespaces", "Namespace", { ...cluster, shortNames: ["ns"], status: true }),
  row("", "nodes", "Node", { ...cluster, shortNames: ["no"], status: true }),
  row("", "pods", "Pod", { shortNames: ["po"], all: true, status: true }),
  row("", "services", "Service", { shortNames: ["svc"], all: true, status: true }),
  row("", "endpoints", "Endpoints", { shortNames: ["ep"] }),
  row("", "secrets", "Secret"),
  row("", "configmaps", "ConfigMap", { shortNames: ["cm"] }),
  row("", "serviceaccounts", "ServiceAccount", { shortNames: ["sa"] }),
  row("", "persistentvolumeclaims", "PersistentVolumeClaim", { shortNames: ["pvc"], status: true }),
  row("", "events", "Event", { shortNames: ["ev"] }),
  row("apps", "deployments", "Deployment", { ...specified, shortNames: ["deploy"], all: true }),
  row("apps", "replicasets", "ReplicaSet", { ...specified, shortNames: ["rs"], all: true }),
  row("apps", "statefulsets", "StatefulSet", { ...specified, shortNames: ["sts"], all: true }),
  row("apps", "controllerrevisions", "ControllerRevision"),
  row("batch", "jobs", "Job", { ...specified, all: true }),
  row("policy", "poddisruptionbudgets", "PodDisruptionBudget", {
    ...specified,
    shortNames: ["pdb"],
  }),
  row(NETWORKING, "ingresses", "Ingress", { ...specified, shortNames: ["ing"] }),
  row(NETWORKING, "networkpolicies", "NetworkPolicy", { generation: true, shortNames: ["netpol"] }),
  row(RBAC, "roles", "Role"),
  row(RBAC, "rolebindings", "RoleBinding"),
  row(RBAC, "clusterroles", "ClusterRole", cluster),
  row(RBAC, "clusterrolebindings", "ClusterRoleBinding", cluster),
  row("discovery.k8s.io", "endpointslices", "EndpointSlice", { generation: true }),
  row("coordination.k8s.io", "leases", "Lease"),
  row("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview", {
    ...cluster,
    virtual: true,
  }),
  row("authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview", {
    ...cluster,
    virtual: true,
  }),
  row("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview", {
    ...cluster,
    virtual: true,
  }),
];

/** A kind of the Prometheus operator; a server has it only where it is switched on, as a cluster with the operator. */
export const SERVICE_MONITOR: Resource = row(
  "monitoring.coreos.com",
  "servicemonitors",
  "ServiceMonitor",
  {
    shortNames: ["smon"],
    generation: true,
  },
);

export const apiVersionOf = (resource: Resource): string =>
  resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
