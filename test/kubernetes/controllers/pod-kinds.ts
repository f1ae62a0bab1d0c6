/** The fields of a pod that the controllers and the node read and write. */
export type Labels = Readonly<Record<string, string>>;

export type Condition = {
  type: string;
  status: "True" | "False" | "Unknown";
  reason?: string;
  message?: string;
  lastTransitionTime?: string | null;
  lastUpdateTime?: string;
  lastProbeTime?: string | null;
  observedGeneration?: number;
};

export type KeyRef = { name?: string; key: string; optional?: boolean };

export type EnvVar = {
  name: string;
  value?: string;
  valueFrom?: {
    secretKeyRef?: KeyRef;
    configMapKeyRef?: KeyRef;
    fieldRef?: { fieldPath: string };
    resourceFieldRef?: { containerName?: string; resource: string; divisor?: string | number };
  };
};

export type EnvFrom = {
  prefix?: string;
  secretRef?: { name?: string; optional?: boolean };
  configMapRef?: { name?: string; optional?: boolean };
};

export type HttpGet = {
  path?: string;
  port: number | string;
  host?: string;
  scheme?: string;
  httpHeaders?: readonly { name: string; value: string }[];
};

export type Handler = {
  httpGet?: HttpGet;
  tcpSocket?: { port: number | string; host?: string };
  exec?: { command?: readonly string[] };
  grpc?: { port: number; service?: string };
  sleep?: { seconds: number };
};

export type Probe = Handler & {
  initialDelaySeconds?: number;
  periodSeconds?: number;
  timeoutSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
  terminationGracePeriodSeconds?: number;
};

export type Capabilities = { add?: readonly string[]; drop?: readonly string[] };

export type SecurityContext = {
  runAsUser?: number;
  runAsGroup?: number;
  runAsNonRoot?: boolean;
  readOnlyRootFilesystem?: boolean;
  allowPrivilegeEscalation?: boolean;
  privileged?: boolean;
  capabilities?: Capabilities;
  seccompProfile?: { type: string };
};

export type PodSecurityContext = Omit<
  SecurityContext,
  "readOnlyRootFilesystem" | "allowPrivilegeEscalation" | "privileged" | "capabilities"
> & { fsGroup?: number; supplementalGroups?: readonly number[] };

export type Resources = { limits?: Labels; requests?: Labels };

export type VolumeMount = {
  name: string;
  mountPath: string;
  subPath?: string;
  subPathExpr?: string;
  readOnly?: boolean;
};

export type Container = {
  name: string;
  image: string;
  imagePullPolicy?: string;
  command?: readonly string[];
  args?: readonly string[];
  workingDir?: string;
  env?: readonly EnvVar[];
  envFrom?: readonly EnvFrom[];
  ports?: readonly { name?: string; containerPort: number; protocol?: string }[];
  resources?: Resources;
  volumeMounts?: VolumeMount[];
  volumeDevices?: readonly unknown[];
  securityContext?: SecurityContext;
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  lifecycle?: { preStop?: Handler; postStart?: Handler };
  restartPolicy?: string;
  terminationMessagePath?: string;
  terminationMessagePolicy?: string;
};

export type KeyToPath = { key: string; path: string; mode?: number };

export type KeySource = { items?: readonly KeyToPath[]; optional?: boolean };

export type Projection = {
  secret?: KeySource & { name?: string };
  configMap?: KeySource & { name?: string };
  serviceAccountToken?: { path: string; expirationSeconds?: number; audience?: string };
  downwardAPI?: {
    items?: readonly { path: string; fieldRef?: { fieldPath: string }; mode?: number }[];
  };
};

export type Volume = {
  name: string;
  emptyDir?: { medium?: string; sizeLimit?: string };
  secret?: KeySource & { secretName?: string; defaultMode?: number };
  configMap?: KeySource & { name?: string; defaultMode?: number };
  projected?: { sources?: readonly Projection[]; defaultMode?: number };
  persistentVolumeClaim?: { claimName: string; readOnly?: boolean };
};

export type PodSpec = {
  nodeName?: string;
  hostname?: string;
  subdomain?: string;
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  enableServiceLinks?: boolean;
  restartPolicy?: string;
  terminationGracePeriodSeconds?: number;
  activeDeadlineSeconds?: number;
  initContainers?: Container[];
  containers: Container[];
  volumes?: Volume[];
  securityContext?: PodSecurityContext;
  hostAliases?: readonly { ip: string; hostnames?: readonly string[] }[];
  [field: string]: unknown;
};

export type PodTemplate = {
  metadata?: { labels?: Labels; annotations?: Labels };
  spec: PodSpec;
};

export type TerminatedState = {
  exitCode: number;
  signal?: number;
  reason: string;
  message?: string;
  startedAt: string;
  finishedAt: string;
  containerID: string;
};

export type ContainerState = {
  waiting?: { reason: string; message?: string };
  running?: { startedAt: string };
  terminated?: TerminatedState;
};

export type ContainerStatus = {
  name: string;
  image: string;
  imageID: string;
  containerID?: string;
  ready: boolean;
  started: boolean;
  restartCount: number;
  state: ContainerState;
  lastState: ContainerState;
};

export type PodStatus = {
  phase?: string;
  reason?: string;
  message?: string;

  conditions?: readonly Condition[];
  hostIP?: string;
  hostIPs?: readonly { ip: string }[];
  podIP?: string;
  podIPs?: readonly { ip: string }[];
  startTime?: string;
  qosClass?: string;
  initContainerStatuses?: readonly ContainerStatus[];
  containerStatuses?: readonly ContainerStatus[];
};
