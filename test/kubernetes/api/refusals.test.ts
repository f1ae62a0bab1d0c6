// Values that a server must refuse, each with the words that name the field. kubectl sends all of them at once, and
// with TRAINYARD_KUBECONFIG another cluster says what it thinks of them.
import { afterAll, beforeAll, expect, test } from "vitest";
import { needPrograms } from "../programs.ts";
import type { Fields, KubeObject } from "./object-store.ts";
import { type Cluster, startCluster } from "./testing/cluster.ts";
import { configMap, deployment } from "./testing/objects.ts";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster[Symbol.asyncDispose]());

const container = (change: Fields): KubeObject => {
  const object = deployment("wrong", "a:1");
  Object.assign(object.spec.template.spec.containers[0], change);
  return object;
};
const podSpec = (change: Fields): KubeObject => {
  const object = deployment("wrong", "a:1");
  Object.assign(object.spec.template.spec, change);
  return object;
};
const spec = (change: Fields): KubeObject => {
  const object = deployment("wrong", "a:1");
  Object.assign(object.spec, change);
  return object;
};
const other = (apiVersion: string, kind: string, rest: Fields): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: "wrong" },
  ...rest,
});
const service = (ports: readonly Fields[]): KubeObject =>
  other("v1", "Service", { spec: { ports } });
const containers = [{ name: "main", image: "a:1" }];
const rbac = "rbac.authorization.k8s.io/v1";
const networking = "networking.k8s.io/v1";

const refusals: readonly (readonly [words: string, object: KubeObject])[] = [
  ['metadata.name: Invalid value: "Upper"', configMap("Upper", {})],
  [
    "metadata.labels: Invalid value",
    { ...configMap("wrong", {}), metadata: { name: "wrong", labels: { a: "b c" } } },
  ],
  [
    "metadata.annotations: Invalid value",
    { ...configMap("wrong", {}), metadata: { name: "wrong", annotations: { "a/b/c": "" } } },
  ],
  ["data[a b]: Invalid value", configMap("wrong", { "a b": "" })],
  ["spec.selector: Required value", spec({ selector: undefined })],
  [
    "`selector` does not match template `labels`",
    spec({ selector: { matchLabels: { app: "other" } } }),
  ],
  ["spec.replicas: Invalid value: -1", spec({ replicas: -1 })],
  [
    "may not be 0 when `maxSurge` is 0",
    spec({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
  ],
  ['supported values: "Recreate", "RollingUpdate"', spec({ strategy: { type: "Roll" } })],
  ["spec.template.spec.containers: Required value", podSpec({ containers: [] })],
  [
    'spec.template.spec.restartPolicy: Unsupported value: "Never"',
    podSpec({ restartPolicy: "Never" }),
  ],
  [
    'containers[1].name: Duplicate value: "main"',
    podSpec({ containers: [...containers, ...containers] }),
  ],
  [
    "more than 1 volume type",
    podSpec({ volumes: [{ name: "v", emptyDir: {}, hostPath: { path: "/" } }] }),
  ],
  [
    "volumes[0].secret.secretName: Required value",
    podSpec({ volumes: [{ name: "v", secret: {} }] }),
  ],
  ["containers[0].image: Required value", container({ image: "" })],
  ["containers[0].name: Invalid value", container({ name: "not_a_name" })],
  [
    "must be no more than 15",
    container({ ports: [{ containerPort: 1, name: "sixteen-letters-" }] }),
  ],
  [
    "ports[0].containerPort: Invalid value: 70000",
    container({ ports: [{ containerPort: 70_000 }] }),
  ],
  [
    'ports[1].name: Duplicate value: "a"',
    container({
      ports: [
        { containerPort: 1, name: "a" },
        { containerPort: 2, name: "a" },
      ],
    }),
  ],
  ["env[0].name: Invalid value", container({ env: [{ name: "A=B", value: "x" }] })],
  [
    "env[0].valueFrom: Invalid value",
    container({
      env: [{ name: "A", value: "x", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
    }),
  ],
  [
    'volumeMounts[0].name: Not found: "absent"',
    container({ volumeMounts: [{ name: "absent", mountPath: "/a" }] }),
  ],
  [
    "quantities must match the regular expression",
    container({ resources: { limits: { cpu: "1 core" } } }),
  ],
  [
    "must be less than or equal to cpu limit",
    container({ resources: { limits: { cpu: "1" }, requests: { cpu: "2" } } }),
  ],
  [
    "livenessProbe: Required value: must specify a handler type",
    container({ livenessProbe: { periodSeconds: 5 } }),
  ],
  [
    "more than 1 handler type",
    container({ readinessProbe: { httpGet: { port: 1 }, tcpSocket: { port: 1 } } }),
  ],
  [
    "livenessProbe.successThreshold: Invalid value: 2: must be 1",
    container({ livenessProbe: { successThreshold: 2, tcpSocket: { port: 1 } } }),
  ],
  [
    "allowPrivilegeEscalation",
    container({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
  ],
  [
    'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    other("batch/v1", "Job", { spec: { template: { spec: { containers } } } }),
  ],
  ["spec.ports: Required value", service([])],
  ["spec.ports[0].name: Required value", service([{ port: 1 }, { port: 2, name: "b" }])],
  ["spec.ports[0].port: Invalid value: 0", service([{ port: 0 }])],
  [
    "pathType",
    other(networking, "Ingress", {
      spec: {
        rules: [
          {
            http: {
              paths: [{ path: "/", backend: { service: { name: "a", port: { number: 1 } } } }],
            },
          },
        ],
      },
    }),
  ],
  [
    "cannot set both port name & port number",
    other(networking, "Ingress", {
      spec: { defaultBackend: { service: { name: "a", port: { number: 1, name: "b" } } } },
    }),
  ],
  [
    "ipBlock.cidr: Invalid value",
    other(networking, "NetworkPolicy", {
      spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0" } }] }] },
    }),
  ],
  [
    "minAvailable and maxUnavailable cannot be both set",
    other("policy/v1", "PodDisruptionBudget", { spec: { minAvailable: 1, maxUnavailable: 1 } }),
  ],
  [
    "rules[0].verbs: Required value",
    other(rbac, "Role", { rules: [{ apiGroups: [""], resources: ["pods"], verbs: [] }] }),
  ],
  [
    'roleRef.kind: Unsupported value: "Cluster"',
    other(rbac, "RoleBinding", {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Cluster", name: "a" },
    }),
  ],
  [
    "subjects[0].namespace: Required value",
    other(rbac, "RoleBinding", {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "a" },
      subjects: [{ kind: "ServiceAccount", name: "a" }],
    }),
  ],
  ["illegal base64 data", other("v1", "Secret", { data: { a: "not base64!" } })],
  ["data[tls.crt]: Required value", other("v1", "Secret", { type: "kubernetes.io/tls", data: {} })],
  [
    "spec.accessModes: Required value",
    other("v1", "PersistentVolumeClaim", { spec: { resources: { requests: { storage: "1Gi" } } } }),
  ],
  [
    'serviceaccount "absent" not found',
    other("v1", "Pod", { spec: { serviceAccountName: "absent", containers } }),
  ],
];

test("wrong values are refused, each with its field", async ({ skip }) => {
  needPrograms(skip);
  const namespace = await cluster.namespace();
  // JSON documents that follow each other are read as YAML's are.
  const input = refusals.map(([, object]) => JSON.stringify(object)).join("\n---\n");
  const { stdout, stderr } = await cluster.call(
    "kubectl",
    ["-n", namespace, "create", "-f", "-"],
    input,
  );
  expect(stdout).toBe("");
  const lines = stderr.split("\n").filter((line) => line !== "");
  expect(lines.length).toBe(refusals.length);
  const unlike = refusals.flatMap(([words], index) =>
    lines[index]?.includes(words) ? [] : [[words, lines[index]]],
  );
  expect(unlike).toEqual([]);
});

test("fields that must stay are refused by a change", async ({ skip }) => {
  needPrograms(skip);
  const namespace = await cluster.namespace();
  const create = (object: KubeObject) =>
    cluster.kubectl(["-n", namespace, "create", "-f", "-"], object);
  const patched = async (kind: string, patch: unknown): Promise<string> => {
    const args = [
      "-n",
      namespace,
      "patch",
      kind,
      "right",
      "--type=merge",
      "-p",
      JSON.stringify(patch),
    ];
    return (await cluster.call("kubectl", args)).stderr;
  };
  await create(deployment("right", "a:1"));
  const labels = { a: "b" };
  const selector = { selector: { matchLabels: labels }, template: { metadata: { labels } } };
  expect(await patched("deployment", { spec: selector })).toContain("field is immutable");
  await create({ ...deployment("right", "a:1"), kind: "StatefulSet" });
  expect(await patched("statefulset", { spec: { serviceName: "other" } })).toContain(
    "updates to statefulset spec for fields other than",
  );
  await create({
    ...other("v1", "Service", { spec: { ports: [{ port: 80 }] } }),
    metadata: { name: "right" },
  });
  expect(
    await patched("service", { spec: { clusterIP: "10.96.255.1", clusterIPs: null } }),
  ).toMatch(/immutable|may not change once set/);
  await create({ ...configMap("right", { a: "1" }), immutable: true });
  expect(await patched("configmap", { data: { a: "2" } })).toContain("data: Forbidden");
  const pod = { ...other("v1", "Pod", { spec: { containers } }), metadata: { name: "right" } };
  await create(pod);
  expect(await patched("pod", { spec: { hostNetwork: true } })).toContain(
    "pod updates may not change fields other than",
  );
});
