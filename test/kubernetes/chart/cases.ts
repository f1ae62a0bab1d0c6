/** Values of the chart that together have every key at least once not at its default. */

export type Case = {
  readonly values: object;
  /** The kinds that the cluster has besides its own. */
  readonly kinds?: readonly string[];
  /** The version of Kubernetes. */
  readonly kubernetes?: string;
};

const digest = `sha256:${"0123456789abcdef".repeat(4)}`;

/** The values that nobody can leave out. */
export const required = {
  postgres: { host: "db.example", adminSecret: { name: "postgres-admin" } },
  nats: { url: "nats://nats:4222" },
  storage: { blobs: "s3://models/blobs", checkpoints: "s3://models/checkpoints" },
};

const pods = {
  matchLabels: { app: "x" },
  matchExpressions: [{ key: "a", operator: "In", values: ["b"] }],
};
const nodes = {
  matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }],
  matchFields: [{ key: "metadata.name", operator: "NotIn", values: ["n1"] }],
};
const near = {
  labelSelector: pods,
  namespaceSelector: pods,
  namespaces: ["ml"],
  topologyKey: "kubernetes.io/hostname",
};
const podAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution: [near],
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 5, podAffinityTerm: near }],
};
const affinity = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [nodes] },
    preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: nodes }],
  },
  podAffinity,
  podAntiAffinity: podAffinity,
};
const placement = {
  nodeSelector: { disk: "ssd" },
  tolerations: [
    { key: "gpu", operator: "Equal", value: "yes", effect: "NoExecute", tolerationSeconds: 60 },
  ],
};
const scheduled = {
  ...placement,
  affinity,
  priorityClassName: "high",
  serviceAccountName: "cloud-role",
  podAnnotations: { "example.org/team": "ml" },
};
const extraEnv = [
  { name: "OTEL_EXPORTER_OTLP_ENDPOINT", value: "http://collector:4318" },
  {
    name: "OTEL_EXPORTER_OTLP_HEADERS",
    valueFrom: { secretKeyRef: { name: "collector", key: "headers", optional: true } },
  },
  { name: "ZONE", valueFrom: { configMapKeyRef: { name: "zones", key: "zone", optional: true } } },
  { name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
  { name: "CPUS", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
];
const resources = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: 2, memory: "2Gi" } };
const route = (host: string) => ({
  host,
  tlsSecret: "tls",
  annotations: { "example.org/timeout": "60" },
});
const peers = [
  {
    podSelector: pods,
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "other" } },
  },
  { ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } },
];
const names = [
  "relay",
  "registry",
  "metrics",
  "logs",
  "checkpoint-gc",
  "scheduler",
  "searcher",
  "experiments",
  "feeds",
  "gateway",
];
/** The same value for each service. */
const each = (value: (name: string) => unknown): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, value(name)]));

export const cases: Readonly<Record<string, Case>> = {
  "the least": { values: required },
  "everything once": {
    kinds: ["monitoring.coreos.com/v1/ServiceMonitor"],
    values: {
      ...required,
      global: { region: "eu" },
      nats: { url: "tls://n1:4222,tls://n2", existingSecret: "nats-users" },
      redis: { existingSecret: "redis", urlKey: "address" },
      certificates: { configMap: "authority", key: "root.pem" },
      taskDomain: "tasks.example.net",
      logLevel: "debug",
      services: each((name) => ({ replicas: name === "gateway" ? 3 : 2 })),
      agents: {
        cpu: { replicas: 2, slots: 4 },
        gpu: { slots: 2, slotType: "cuda", resources: { limits: { "nvidia.com/gpu": 2 } } },
      },
      ingress: {
        enabled: true,
        className: "nginx",
        annotations: { "example.org/all": "yes" },
        trustedProxies: ["10.1.0.0/16", "fd00::/8"],
        api: route("trainyard.example.org"),
        grpc: route("grpc.example.org"),
        metrics: route("metrics.example.org"),
        metricsGrpc: route("points.example.org"),
        tasks: { tlsSecret: "tasks-tls", annotations: { "example.org/timeout": "60" } },
      },
      networkPolicies: {
        ingress: peers,
        prometheus: peers,
        postgres: peers,
        nats: peers,
        storage: peers,
        redis: peers,
        redisPort: 6380,
        identity: peers,
        identityPort: 8443,
        traces: peers,
        tracesPort: 4317,
      },
      serviceMonitor: { enabled: true, interval: "15s", labels: { release: "prometheus" } },
      test: { existingSecret: "tester", timeoutSeconds: 60 },
    },
  },
  "secrets and images of one's own, on the oldest Kubernetes": {
    kubernetes: "1.29.0",
    values: {
      ...required,
      image: {
        repository: "ghcr.io/example",
        tag: "1.2.3",
        pullPolicy: "Always",
        pullSecrets: ["pull"],
      },
      postgres: {
        host: "db",
        port: 6432,
        database: "ml",
        sslMode: "verify-full",
        existingSecret: "postgres-services",
        adminSecret: { name: "admin", userKey: "username", passwordKey: "secret" },
      },
      storage: {
        blobs: "s3://models",
        checkpoints: "s3://checkpoints/a/b",
        endpoint: "http://minio:9000",
        region: "eu-central-1",
        existingSecret: "minio",
      },
      keys: { existingSecret: "keys", runTokenKeyId: "2" },
      services: {
        gateway: { image: { repository: "ghcr.io/own/gateway", tag: "edge" } },
        relay: { image: { digest } },
      },
      migrate: {
        image: { repository: "ghcr.io/own/migrate", digest },
        resources,
        extraEnv: [{ name: "NODE_OPTIONS", value: "--dns-result-order=ipv4first" }],
        ...placement,
      },
    },
  },
  "pods somewhere else": {
    values: {
      ...required,
      serviceDefaults: {
        ...scheduled,
        resources,
        extraEnv,
        replicas: 2,
        terminationGracePeriodSeconds: 60,
        image: { tag: "next" },
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: "zone",
            whenUnsatisfiable: "DoNotSchedule",
            minDomains: 2,
            nodeAffinityPolicy: "Honor",
            nodeTaintsPolicy: "Honor",
          },
        ],
      },
      agentDefaults: {
        ...scheduled,
        updateStrategy: "RollingUpdate",
        pool: "gpus",
        labels: { zone: "a", rack: "r3" },
        image: { repository: "ghcr.io/own/agent", tag: "torch" },
        resources,
        volume: { size: "1Ti", storageClassName: "fast", accessModes: ["ReadWriteOncePod"] },
        sharedMemory: "8Gi",
        temporaryFiles: "200Gi",
        extraEnv,
        runtimeClassName: "nvidia",
        terminationGracePeriodSeconds: 120,
      },
      agents: { a: { slots: 8, image: { repository: "ghcr.io/own/agent", tag: "", digest } } },
    },
  },
  "a store of Google's, and nothing that can be left out": {
    values: {
      ...required,
      storage: {
        blobs: "gs://models/blobs",
        checkpoints: "gs://models/checkpoints",
        endpoint: "https://storage.example",
        existingSecret: "google",
      },
      services: { feeds: { enabled: false }, "checkpoint-gc": { enabled: false } },
      networkPolicies: { enabled: false },
      ingress: {
        enabled: true,
        api: { host: "trainyard.example.org" },
        tasks: { enabled: false },
      },
      taskDomain: "tasks.example.net",
      test: { enabled: false },
      serviceMonitor: { enabled: true },
    },
  },
  "stopped, and migrated by somebody else": {
    values: {
      ...required,
      stopped: true,
      migrate: { enabled: false },
      keys: { existingSecret: "keys" },
      postgres: { host: "db", existingSecret: "postgres-services" },
      agents: { a: { slots: 1 } },
    },
  },
};
