/** The fields of the API's objects that the controllers and the node read and write, and the store with these types. */
import type {
  KubeObject,
  Metadata,
  ObjectStore,
  OwnerReference,
  WatchEvent,
} from "../api/object-store.ts";
import type { Condition, Labels, PodSpec, PodStatus, PodTemplate, Resources } from "./pod-kinds.ts";

export type Selector = {
  matchLabels?: Labels;
  matchExpressions?: readonly {
    key: string;
    operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
    values?: readonly string[];
  }[];
};

type Of<Spec, Status> = KubeObject & { spec: Spec; status?: Status };

export type Pod = Of<PodSpec, PodStatus>;

export type IntOrPercent = number | string;

export type SetCounts = {
  observedGeneration?: number;
  replicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  conditions?: readonly Condition[];
};

export type DeploymentStatus = SetCounts & {
  updatedReplicas?: number;
  unavailableReplicas?: number;
  collisionCount?: number;
};

export type Deployment = Of<
  {
    replicas?: number;
    selector: Selector;
    template: PodTemplate;
    paused?: boolean;
    minReadySeconds?: number;
    revisionHistoryLimit?: number;
    progressDeadlineSeconds?: number;
    strategy?: {
      type?: string;
      rollingUpdate?: { maxSurge?: IntOrPercent; maxUnavailable?: IntOrPercent };
    };
  },
  DeploymentStatus
>;

export type ReplicaSet = Of<
  { replicas?: number; selector: Selector; template: PodTemplate; minReadySeconds?: number },
  SetCounts & { fullyLabeledReplicas?: number }
>;

export type Claim = Of<
  { accessModes?: readonly string[]; volumeName?: string; resources?: Resources },
  { phase?: string; accessModes?: readonly string[]; capacity?: Labels }
>;

export type StatefulSetStatus = SetCounts & {
  currentReplicas?: number;
  updatedReplicas?: number;
  currentRevision?: string;
  updateRevision?: string;
  collisionCount?: number;
};

export type StatefulSet = Of<
  {
    replicas?: number;
    selector: Selector;
    template: PodTemplate;
    serviceName?: string;
    podManagementPolicy?: string;
    minReadySeconds?: number;
    revisionHistoryLimit?: number;
    ordinals?: { start?: number };
    volumeClaimTemplates?: readonly { metadata: Metadata; spec: Claim["spec"] }[];
    updateStrategy?: { type?: string; rollingUpdate?: { partition?: number } };
  },
  StatefulSetStatus
>;

export type ControllerRevision = KubeObject & {
  data: { spec: { template: PodTemplate } };
  revision: number;
};

export type JobStatus = {
  active?: number;
  ready?: number;
  succeeded?: number;
  failed?: number;
  terminating?: number;
  startTime?: string;
  completionTime?: string;
  uncountedTerminatedPods?: object;
  conditions?: readonly Condition[];
};

export type Job = Of<
  {
    completions?: number;
    parallelism?: number;
    backoffLimit?: number;
    activeDeadlineSeconds?: number;
    ttlSecondsAfterFinished?: number;
    suspend?: boolean;
    template: PodTemplate;
  },
  JobStatus
>;

export type ServicePort = {
  name?: string;
  port: number;
  protocol?: string;
  targetPort?: number | string;
  appProtocol?: string;
};

export type Service = Of<
  {
    type?: string;
    clusterIP?: string;
    clusterIPs?: readonly string[];
    externalName?: string;
    selector?: Labels;
    ports?: readonly ServicePort[];
    publishNotReadyAddresses?: boolean;
  },
  object
>;

export type SliceEndpoint = {
  addresses: readonly string[];
  conditions: { ready: boolean; serving: boolean; terminating: boolean };
  hostname?: string;
  nodeName?: string;
  targetRef?: object;
};

export type SlicePort = { name: string; port: number; protocol: string; appProtocol?: string };

export type EndpointSlice = KubeObject & {
  addressType: string;
  endpoints: readonly SliceEndpoint[];
  ports: readonly SlicePort[];
};

export type DisruptionBudget = Of<
  { selector?: Selector; minAvailable?: IntOrPercent; maxUnavailable?: IntOrPercent },
  {
    observedGeneration?: number;
    expectedPods?: number;
    currentHealthy?: number;
    desiredHealthy?: number;
    disruptionsAllowed?: number;
    conditions?: readonly Condition[];
  }
>;

export type Secret = KubeObject & { data?: Labels };
export type ConfigMap = KubeObject & { data?: Labels; binaryData?: Labels };
export type ServiceAccount = KubeObject & { automountServiceAccountToken?: boolean };

export type Kinds = {
  pods: Pod;
  deployments: Deployment;
  replicasets: ReplicaSet;
  statefulsets: StatefulSet;
  controllerrevisions: ControllerRevision;
  jobs: Job;
  services: Service;
  endpoints: KubeObject & { subsets?: readonly object[] };
  endpointslices: EndpointSlice;
  poddisruptionbudgets: DisruptionBudget;
  persistentvolumeclaims: Claim;
  secrets: Secret;
  configmaps: ConfigMap;
  serviceaccounts: ServiceAccount;
  namespaces: Of<object, { phase?: string }>;
  nodes: Of<object, object>;
  events: KubeObject;
};

export type Plural = keyof Kinds;

/** The store, whose objects have the types of their kinds. */
export class Objects {
  readonly store: ObjectStore;

  constructor(store: ObjectStore) {
    this.store = store;
  }

  get<P extends Plural>(plural: P, namespace: string | null, name: string): Kinds[P] | null {
    return this.store.get(plural, namespace, name) as Kinds[P] | null;
  }

  list<P extends Plural>(plural: P, namespace: string | null = null): readonly Kinds[P][] {
    return this.store.list(plural, namespace) as readonly Kinds[P][];
  }

  create<P extends Plural>(plural: P, object: KubeObject): Kinds[P] {
    return this.store.create(plural, object) as Kinds[P];
  }

  update<P extends Plural>(plural: P, object: Kinds[P]): Kinds[P] {
    return this.store.update(plural, object) as Kinds[P];
  }

  updateStatus<P extends Plural>(plural: P, object: Kinds[P]): Kinds[P] {
    return this.store.updateStatus(plural, object) as Kinds[P];
  }

  delete(plural: Plural, object: KubeObject, gracePeriodSeconds?: number): void {
    this.store.delete(plural, namespaceOf(object), object.metadata.name, {
      propagation: "Background",
      preconditions: { uid: uidOf(object) },
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    });
  }

  watch<P extends Plural>(
    plural: P,
    listener: (object: Kinds[P], type: WatchEvent["type"]) => void,
  ): () => void {
    return this.store.watch(plural, ({ type, object }) => listener(object as Kinds[P], type));
  }
}

export function uidOf({ metadata: { uid = "" } }: KubeObject): string {
  return uid;
}

export function namespaceOf({ metadata: { namespace } }: KubeObject): string | null {
  return namespace ?? null;
}

export type { KubeObject, Metadata, OwnerReference };
