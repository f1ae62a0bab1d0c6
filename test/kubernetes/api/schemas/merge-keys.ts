// How lists, maps and structs of two writers become one. The declarations that api-schema.json is made from lack this,
// so it is written by hand, from the "Patch strategy", "Map: unique values on keys", "Set" and "Atomic" remarks of the
// API reference v1.33. A list that is not named here is atomic; a map or a struct that is not named here is merged.
// Source: docs, "Server-Side Apply" (merge strategy); KEP-555; API conventions, "Strategic Merge Patch".

export type ListMerge =
  /** Items are one where these fields are equal. A strategic merge patch compares only the first, unless `patchKey`. */
  | { keys: readonly string[]; retainKeys?: true; patchKey?: string | null }
  /** Equal values are one item. */
  | "set"
  /** Only strategic merge patches merge by this key. */
  | { patchOnly: string };

const byName: ListMerge = { keys: ["name"] };
const byType: ListMerge = { keys: ["type"] };

export const LISTS: Readonly<Record<string, ListMerge>> = {
  "ObjectMeta.ownerReferences": { keys: ["uid"] },
  "ObjectMeta.finalizers": "set",
  "PodSpec.containers": byName,
  "PodSpec.initContainers": byName,
  "PodSpec.ephemeralContainers": byName,
  "PodSpec.volumes": { keys: ["name"], retainKeys: true },
  "PodSpec.imagePullSecrets": byName,
  "PodSpec.hostAliases": { keys: ["ip"] },
  "PodSpec.schedulingGates": byName,
  "PodSpec.resourceClaims": { keys: ["name"], retainKeys: true },
  "PodSpec.topologySpreadConstraints": { keys: ["topologyKey", "whenUnsatisfiable"] },
  "Container.env": byName,
  "Container.ports": { keys: ["containerPort", "protocol"] },
  "Container.volumeMounts": { keys: ["mountPath"] },
  "Container.volumeDevices": { keys: ["devicePath"] },
  "EphemeralContainer.env": byName,
  "EphemeralContainer.ports": { keys: ["containerPort", "protocol"] },
  "EphemeralContainer.volumeMounts": { keys: ["mountPath"] },
  "EphemeralContainer.volumeDevices": { keys: ["devicePath"] },
  "ResourceRequirements.claims": { keys: ["name"], patchKey: null },
  "PodStatus.conditions": byType,
  "PodStatus.podIPs": { keys: ["ip"] },
  "PodStatus.resourceClaimStatuses": { keys: ["name"], retainKeys: true },
  "PodStatus.hostIPs": { patchOnly: "ip" },
  "ServiceSpec.ports": { keys: ["port", "protocol"] },
  "ServiceStatus.conditions": byType,
  "ServiceAccount.secrets": byName,
  "NamespaceStatus.conditions": byType,
  "NodeSpec.podCIDRs": "set",
  "NodeStatus.addresses": byType,
  "NodeStatus.conditions": byType,
  "PersistentVolumeClaimStatus.conditions": byType,
  "DeploymentStatus.conditions": byType,
  "ReplicaSetStatus.conditions": byType,
  "StatefulSetStatus.conditions": byType,
  "JobStatus.conditions": { patchOnly: "type" },
  "UncountedTerminatedPods.failed": "set",
  "UncountedTerminatedPods.succeeded": "set",
  "PodFailurePolicyOnExitCodesRequirement.values": "set",
  "PodDisruptionBudgetStatus.conditions": byType,
  "Endpoint.addresses": "set",
};

export const ATOMIC_MAPS: ReadonlySet<string> = new Set([
  "PodSpec.nodeSelector",
  "ServiceSpec.selector",
  "Endpoint.deprecatedTopology",
]);

export const ATOMIC_STRUCTS: ReadonlySet<string> = new Set([
  "ConfigMapKeySelector",
  "EndpointAddress",
  "EndpointPort",
  "LabelSelector",
  "LocalObjectReference",
  "NodeSelector",
  "NodeSelectorTerm",
  "ObjectFieldSelector",
  "ObjectReference",
  "ResourceFieldSelector",
  "RoleRef",
  "SecretKeySelector",
  "SecretReference",
  "ServiceBackendPort",
  "Subject",
  "TypedLocalObjectReference",
]);

/** Strategic merge patches keep of these structs only the fields that they name in `$retainKeys`. */
export const RETAIN_KEYS: ReadonlySet<string> = new Set(["DeploymentSpec.strategy"]);

/** Keys that have a default. Other keys are empty when they are left out, if their type must have them. */
export const KEY_DEFAULTS: Readonly<Record<string, string>> = { protocol: "TCP" };
