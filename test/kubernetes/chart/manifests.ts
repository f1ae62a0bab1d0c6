/** The objects of a rendered chart, as far as tests read them. */

export type Variable = {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: {
      readonly name: string;
      readonly key: string;
      readonly optional?: boolean;
    };
    readonly fieldRef?: { readonly fieldPath: string };
  };
};

type Probe = { readonly httpGet: { readonly path: string; readonly port: string } };

export type Container = {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly Variable[];
  readonly envFrom?: unknown;
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe?: Probe & {
    readonly periodSeconds: number;
    readonly failureThreshold: number;
  };
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly resources?: { readonly requests?: Readonly<Record<string, unknown>> };
  readonly volumeMounts: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly subPathExpr?: string;
  }[];
};

export type Volume = {
  readonly name: string;
  readonly emptyDir?: { readonly sizeLimit?: string };
  readonly secret?: {
    readonly secretName: string;
    readonly items?: readonly { readonly key: string; readonly path: string }[];
  };
};

export type PodSpec = {
  readonly automountServiceAccountToken: boolean;
  readonly enableServiceLinks: boolean;
  readonly serviceAccountName?: string;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly terminationGracePeriodSeconds?: number;
  readonly containers: readonly Container[];
  readonly initContainers?: unknown;
  readonly volumes: readonly Volume[];
  readonly [field: string]: unknown;
};

export type Labels = Readonly<Record<string, string>>;

/** The specification of a Deployment or StatefulSet. */
export type Workload = {
  readonly replicas: number;
  readonly updateStrategy?: unknown;
  readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
};

export type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Labels;
    readonly annotations?: Labels;
  };
  /** The form depends on the kind. */
  readonly spec?: unknown;
  readonly rules?: unknown;
};

export type Pod = {
  /** The service, `keys`, `migrate`, `test`, or agent-NAME. */
  readonly component: string;
  /** Whether the pod is an agent's. */
  readonly isAgent: boolean;
  readonly owner: Manifest;
  readonly labels: Labels;
  readonly spec: PodSpec;
  readonly container: Container;
};

export const ofKind = (manifests: readonly Manifest[], kind: string): readonly Manifest[] =>
  manifests.filter((one) => one.kind === kind);

/** Returns the object of a kind and a name. Throws if there is none. */
export function named(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = ofKind(manifests, kind).find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

/** Returns the pods that the objects make, each with its only container. */
export function podsOf(manifests: readonly Manifest[]): readonly Pod[] {
  return manifests.flatMap((owner) => {
    const isPod = owner.kind === "Pod";
    const { template } = (owner.spec ?? {}) as Partial<Workload>;
    if (!isPod && template === undefined) return [];
    const { metadata, spec } = (isPod ? owner : template) as Workload["template"];
    const { labels } = metadata;
    const [container] = spec.containers;
    if (container === undefined || spec.containers.length > 1) throw new Error(owner.metadata.name);
    const component = labels["app.kubernetes.io/component"] ?? "";
    return [{ component, isAgent: owner.kind === "StatefulSet", owner, labels, spec, container }];
  });
}
