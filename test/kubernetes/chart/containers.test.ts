/** The containers of the chart: what each may know, what it may do, and how it is probed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { services } from "@trainyard/kernel/services";
import { checkout } from "@trainyard/local-cluster";
import { runtimeLimits } from "@trainyard/runtime";
import { expect, test } from "vitest";
import { needHelm } from "../programs.ts";
import { cases, required } from "./cases.ts";
import { environmentOf } from "./environment.ts";
import { manifestsOf, template } from "./helm.ts";
import { type Container, ofKind, type Pod, podsOf, type Workload } from "./manifests.ts";
import { objectsOf } from "./rendered.ts";
import { parsers, settingsOf } from "./settings.ts";

/** Calls `see` with every pod of every case. */
async function eachPod(see: (pod: Pod, name: string) => void): Promise<void> {
  for (const name of Object.keys(cases)) {
    for (const pod of podsOf(await objectsOf(name))) see(pod, name);
  }
}

const examples = {
  "run-token-key": "0".repeat(64),
  url: "redis://redis:6379",
  address: "redis://redis:6379",
};
const names: readonly string[] = services.map(({ name }) => name);
const programOf = (pod: Pod): string => (pod.isAgent ? "agents" : pod.component);
const isService = (pod: Pod): boolean => names.includes(pod.component);
const secretsOf = ({ env = [] }: Container) =>
  env.flatMap(({ name, valueFrom }) =>
    valueFrom?.secretKeyRef === undefined ? [] : [{ variable: name, ...valueFrom.secretKeyRef }],
  );
/** The variables that a case adds, and not the chart. */
const isAdded = (variable: string): boolean => variable.startsWith("OTEL_");

/** Returns the keys of secrets that a pod may have, in variables or files; a person's variables are not the chart's. */
function keysAllowed(pod: Pod): readonly RegExp[] {
  const { component } = pod;
  if (pod.isAgent) return [new RegExp(`^agent-ty-${component}-\\d+$`)];
  if (component === "migrate") {
    return [/^(user|password|username|secret)$/, new RegExp(`^(postgres-)?(${names.join("|")})$`)];
  }
  if (component === "keys") return [];
  if (component === "test") return [/^(first-)?token$/];
  const settings = settingsOf(component);
  const reads = (setting: string): boolean => settings.has(setting);
  return [
    new RegExp(`^(postgres-)?${component}$`),
    ...(reads("TRAINYARD_RUN_TOKEN_KEY") ? [/^run-token-key$/] : []),
    ...(reads("TRAINYARD_RUN_TOKEN_OTHER_KEYS") ? [/^run-token-other-keys$/] : []),
    ...(reads("TRAINYARD_FIRST_TOKEN_FILE") ? [/^first-token$/] : []),
    ...(reads("TRAINYARD_REDIS_URL") ? [/^(url|address)$/] : []),
    ...(reads("TRAINYARD_STORAGE_REGION")
      ? [/^(access-key-id|secret-access-key|credentials\.json)$/]
      : []),
  ];
}

/** Returns the keys of secrets that a container has, in variables and in files. */
function keysOf({ container, spec }: Pod): readonly string[] {
  const files = spec.volumes.flatMap((volume) => {
    if (volume.secret === undefined) return [];
    const { items } = volume.secret;
    // Without a list of keys the whole secret would be there.
    if (items === undefined) throw new Error(`${container.name} mounts all of ${volume.name}`);
    return items.map(({ key }) => key);
  });
  return [
    ...files,
    ...secretsOf(container)
      .filter(({ variable }) => !isAdded(variable))
      .map(({ key }) => key),
  ];
}

test("no container has another's password, nor a whole secret", async ({ skip }) => {
  needHelm(skip);
  await eachPod((pod, name) => {
    const allowed = keysAllowed(pod);
    const others = keysOf(pod).filter((key) => !allowed.some((one) => one.test(key)));
    expect(others, `${pod.component} with ${name}`).toEqual([]);
    expect(pod.container.envFrom).toBeUndefined();
    expect(pod.spec.initContainers).toBeUndefined();
  });
});

test("a password of NATS is that of the pod's own user, also among the pods of one set of agents", async ({
  skip,
}) => {
  needHelm(skip);
  let users = 0;
  await eachPod(({ component, isAgent, container, spec }) => {
    const variable = secretsOf(container).find((one) => one.variable === "TRAINYARD_NATS_PASSWORD");
    const mount = container.volumeMounts.find((one) => one.name === "nats");
    if (names.includes(component) && variable !== undefined) expect(variable.key).toBe(component);
    if (isAgent && mount !== undefined) {
      const file = /(.*)\$\(TRAINYARD_AGENT_NAME\)$/.exec(mount.subPathExpr ?? "")?.[1];
      expect(file).toBe("agent-");
      expect(
        spec.volumes.find((one) => one.name === "nats")?.secret?.items?.length,
      ).toBeGreaterThan(0);
      expect(valueOf(container, "TRAINYARD_NATS_USER")).toBe("agent-$(TRAINYARD_AGENT_NAME)");
    }
    users += variable === undefined && mount === undefined ? 0 : 1;
  });
  expect(users).toBe(12);
});

test("only the Job of keys and `helm test` have no service's work to do, and only the former may call Kubernetes", async ({
  skip,
}) => {
  needHelm(skip);
  await eachPod(({ component, spec }) => {
    expect(spec.automountServiceAccountToken).toBe(component === "keys");
    expect(spec.enableServiceLinks).toBe(false);
  });
});

test("no container runs as root or may become it, and none writes to its image", async ({
  skip,
}) => {
  needHelm(skip);
  await eachPod(({ spec, container }) => {
    expect(spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 10_001,
      runAsGroup: 10_001,
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    for (const field of ["hostNetwork", "hostPID", "hostIPC", "hostUsers"]) {
      expect(spec[field]).toBeUndefined();
    }
    expect(JSON.stringify(spec.volumes)).not.toContain("hostPath");
    expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toContain("/tmp");
  });
});

test("every container asks for CPU and memory, and its /tmp has a limit", async ({ skip }) => {
  needHelm(skip);
  const sizes = new Set<string>();
  await eachPod(({ component, spec, container }, name) => {
    const { requests } = container.resources ?? {};
    const { sizeLimit = "none" } = spec.volumes.find((one) => one.name === "tmp")?.emptyDir ?? {};
    expect(Object.keys(requests ?? {}), `${component} with ${name}`).toEqual(["cpu", "memory"]);
    sizes.add(component.startsWith("agent-") ? `agent ${sizeLimit}` : sizeLimit);
  });
  expect([...sizes].toSorted()).toEqual(["1Gi", "agent 200Gi", "agent 50Gi"]);
});

test("an agent requests the default of CPU and of memory only where it neither requests nor limits it", async ({
  skip,
}) => {
  needHelm(skip);
  const agents = {
    both: { slots: 1, resources: { limits: { cpu: 2, memory: "512Mi" } } },
    memory: { slots: 1, resources: { limits: { memory: "8Gi" } } },
    raised: { slots: 1, resources: { requests: { cpu: 4 } } },
  };
  const pods = podsOf(manifestsOf(await template({ values: { ...required, agents } })));
  const given = pods
    .filter(({ isAgent }) => isAgent)
    .map(({ component, container }) => [component, container.resources]);
  expect(Object.fromEntries(given)).toEqual({
    "agent-both": { limits: { cpu: 2, memory: "512Mi" } },
    "agent-memory": { limits: { memory: "8Gi" }, requests: { cpu: "500m" } },
    "agent-raised": { requests: { cpu: 4, memory: "1Gi" } },
  });
});

test("every image has a tag or a digest", async ({ skip }) => {
  needHelm(skip);
  await eachPod(({ container: { image } }) => {
    expect(image).toMatch(
      /^[^\s@:]+(:\d+)?(\/[^\s@:]+)*(:(?!latest$)[\w.-]+|@sha256:[0-9a-f]{64})$/,
    );
  });
});

test("every variable of a container is a setting of its program, and together they are valid", async ({
  skip,
}) => {
  needHelm(skip);
  /** The variables of clients of the store and of Node, and the one that another is made of. */
  const others =
    /^(AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY)|GOOGLE_APPLICATION_CREDENTIALS|NODE_EXTRA_CA_CERTS|POD_IP)$/;
  /** The variables that readEnvironment replaces before config.ts sees them. */
  const replaced = /^TRAINYARD_NATS_PASSWORD_FILE$/;
  await eachPod((pod, name) => {
    const parse = parsers.get(programOf(pod));
    if (parse === undefined) return;
    const settings = settingsOf(programOf(pod));
    const unknown = (pod.container.env ?? [])
      .map((variable) => variable.name)
      .filter((one) => !settings.has(one) && !others.test(one) && !replaced.test(one))
      .filter((one) => !["ZONE", "NODE", "CPUS"].includes(one));
    expect(unknown, `${pod.component} with ${name}`).toEqual([]);
    expect(() => parse(environmentOf(pod.container, examples))).not.toThrow();
  });
});

test("every container of a service has all credentials that its program asks for", async ({
  skip,
}) => {
  needHelm(skip);
  await eachPod((pod) => {
    if (!isService(pod)) return;
    const given = new Set((pod.container.env ?? []).map(({ name }) => name));
    const settings = settingsOf(pod.component);
    for (const setting of ["TRAINYARD_POSTGRES_PASSWORD", "TRAINYARD_RUN_TOKEN_KEY"]) {
      expect([pod.component, setting, given.has(setting)]).toEqual([
        pod.component,
        setting,
        settings.has(setting),
      ]);
    }
  });
});

test("every service that reads a store has its region and its credentials", async ({ skip }) => {
  needHelm(skip);
  const given = (pod: Pod) => (pod.container.env ?? []).map(({ name }) => name);
  const reading = (pods: readonly Pod[], variable: string) =>
    pods.filter((pod) => given(pod).includes(variable)).map(({ component }) => component);
  const wanted = names.filter((name) => settingsOf(name).has("TRAINYARD_STORAGE_REGION")).sort();
  const s3 = podsOf(await objectsOf("secrets and images of one's own, on the oldest Kubernetes"));
  for (const variable of [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "TRAINYARD_STORAGE_REGION",
  ]) {
    expect(reading(s3, variable)).toEqual(wanted);
  }
  // Configurations of experiments name it, and the gateway opens only its own.
  expect(reading(s3, "TRAINYARD_STORAGE_ENDPOINTS")).toEqual(["checkpoint-gc", "registry"]);
  const gs = podsOf(await objectsOf("a store of Google's, and nothing that can be left out"));
  const enabled = wanted.filter((name) => name !== "checkpoint-gc");
  expect(reading(gs, "GOOGLE_APPLICATION_CREDENTIALS")).toEqual(enabled);
  expect(reading(gs, "TRAINYARD_STORAGE_GCS_ENDPOINT")).toEqual(enabled);
});

test("probes ask what each process serves, and liveness asks neither PostgreSQL nor NATS", async ({
  skip,
}) => {
  needHelm(skip);
  await eachPod((pod) => {
    const { container, component } = pod;
    const { startupProbe, livenessProbe, readinessProbe } = container;
    if (!isService(pod) && !pod.isAgent) {
      expect([startupProbe, livenessProbe, readinessProbe]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      return;
    }
    expect(livenessProbe?.httpGet).toEqual({ path: "/livez", port: "http" });
    const started = component === "gateway" ? "/readyz" : "/livez";
    const ready = component === "gateway" ? "/livez" : "/readyz";
    expect(startupProbe?.httpGet).toEqual({ path: started, port: "http" });
    expect(readinessProbe?.httpGet).toEqual({ path: ready, port: "http" });
    // A start that waits for a server is not ended for it.
    const startSeconds = (startupProbe?.periodSeconds ?? 0) * (startupProbe?.failureThreshold ?? 0);
    expect(startSeconds).toBeGreaterThanOrEqual(component === "gateway" ? 24 * 3_600 : 120);
  });
});

test("ports are those on which each process listens", async ({ skip }) => {
  needHelm(skip);
  await eachPod((pod) => {
    if (!isService(pod) && !pod.isAgent) return;
    const { container } = pod;
    const ports = Object.fromEntries(
      (container.ports ?? []).map((port) => [port.name, String(port.containerPort)]),
    );
    expect(valueOf(container, "TRAINYARD_HTTP_HOST")).toBe("0.0.0.0");
    expect(ports["http"]).toBe(valueOf(container, "TRAINYARD_HTTP_PORT"));
    expect(ports["grpc"]).toBe(valueOf(container, "TRAINYARD_GRPC_PORT"));
    expect(ports["grpc"] !== undefined).toBe(settingsOf(programOf(pod)).has("TRAINYARD_GRPC_PORT"));
  });
});

test("a pod has longer to stop than its process takes", async ({ skip }) => {
  needHelm(skip);
  const stopSeconds = (runtimeLimits.drainMs + runtimeLimits.tracesLastMs) / 1_000;
  await eachPod((pod, name) => {
    if (!isService(pod) && !pod.isAgent) return;
    const waited = pod.container.lifecycle?.preStop.sleep.seconds ?? 0;
    expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThan(waited + stopSeconds);
    if (isService(pod)) expect(waited, name).toBe(name.includes("oldest") ? 0 : 5);
  });
});

test("a service with several replicas has a disruption budget, and one with one has none", async ({
  skip,
}) => {
  needHelm(skip);
  for (const [name, given] of Object.entries(cases)) {
    const manifests = await objectsOf(name);
    const several = ofKind(manifests, "Deployment").filter(
      ({ spec }) => (spec as Workload).replicas > 1,
    );
    const budgets = ofKind(manifests, "PodDisruptionBudget");
    // Otherwise no node could be drained while pods are not ready.
    for (const { spec } of budgets) {
      expect(spec).toMatchObject({
        maxUnavailable: 1,
        unhealthyPodEvictionPolicy: "AlwaysAllow",
      });
    }
    if ("stopped" in given.values) continue;
    expect(budgets.map(({ metadata }) => metadata.name)).toEqual(
      several.map(({ metadata }) => metadata.name),
    );
  }
});

test("each key of a secret that the chart reads is one that its page names", async ({ skip }) => {
  needHelm(skip);
  const page = readFileSync(join(checkout, "docs/operate/kubernetes.md"), "utf8");
  const renamed = /^(username|secret|address)$/;
  await eachPod((pod) => {
    for (const key of keysOf(pod)) {
      if (renamed.test(key)) continue;
      const general = key
        .replace(/^agent-ty-agent-.*$/, "agent-POD")
        .replace(/^postgres-.*$/, "postgres-SERVICE");
      const named = names.includes(general) ? "SERVICE" : general;
      expect(page).toContain(`\`${named}\``);
    }
  });
});

const valueOf = ({ env = [] }: Container, name: string): string | undefined =>
  env.find((one) => one.name === name)?.value;
