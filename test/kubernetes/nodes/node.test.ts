/** Pods of Podman: what a container sees and does is what its pod says. */
import { Podman, podmanProblem } from "@trainyard/service-agent/testing/podman";
import { afterAll, beforeAll, expect, test } from "vitest";
import { networkProblem } from "./index.ts";
import { needPods, PodWorld, server, shell, testImage } from "./testing/pod-world.ts";

let podman: Podman | null = null;
let opened: PodWorld | null = null;

beforeAll(async () => {
  if ((podmanProblem() ?? networkProblem()) !== null) return;
  podman = await Podman.start();
  opened = await PodWorld.start(podman);
});

afterAll(async () => {
  await opened?.[Symbol.asyncDispose]();
  expect(podman?.containers() ?? []).toEqual([]);
  await podman?.[Symbol.asyncDispose]();
  expect(opened?.failures ?? []).toEqual([]);
  expect(opened?.node.problems ?? []).toEqual([]);
});

function world(skip: (note: string) => never): PodWorld {
  needPods(skip);
  if (opened === null) throw new Error("the node did not start");
  return opened;
}

test("a pod that never restarts ends with its container's code, output and last words", async ({
  skip,
}) => {
  const pods = world(skip);
  const script = "echo hello; echo bye > /dev/termination-log; exit 3";
  pods.pod("once", { restartPolicy: "Never", containers: [shell(script)] });
  const { status } = await pods.ended("once");
  const terminated = { exitCode: 3, reason: "Error", message: "bye\n" };
  expect(status).toMatchObject({
    phase: "Failed",
    containerStatuses: [{ name: "main", ready: false, state: { terminated } }],
  });
  expect(await pods.log("once")).toBe("hello\n");
});

test("a container has its variables, files, user and limits, and nothing more", async ({
  skip,
}) => {
  const pods = world(skip);
  const { objects } = pods;
  const metadata = { name: "settings", namespace: "default" };
  const data = { password: Buffer.from("p w$").toString("base64") };
  objects.create("secrets", { apiVersion: "v1", kind: "Secret", metadata, data });
  objects.create("configmaps", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata,
    data: { mode: "fast" },
  });
  const script = `
id; echo "$PASSWORD|$MODE|$IP|$URL|$LIMIT|$1|$HOSTNAME"
cat /secret/password /map/only; stat -L -c '%a %u %g' /secret/password /scratch
echo x > /scratch/x && stat -c '%u %g' /scratch/x
(echo y > /y) 2>&1; (echo z > /secret/z) 2>&1
grep -E '^(Cap(Eff|Bnd)|NoNewPrivs|Seccomp):' /proc/self/status
cat /var/run/secrets/kubernetes.io/serviceaccount/namespace
cat /var/run/secrets/kubernetes.io/serviceaccount/ca.crt; cat /etc/resolv.conf; tail -1 /etc/hosts`;
  const secretKeyRef = { name: "settings", key: "password" };
  const container = {
    ...shell(script),
    command: ["sh", "-c", script, "sh"],
    args: ["$(MODE)-$$(MODE)-$(NONE)"],
    env: [
      { name: "PASSWORD", valueFrom: { secretKeyRef } },
      { name: "MODE", valueFrom: { configMapKeyRef: { name: "settings", key: "mode" } } },
      { name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
      { name: "URL", value: "http://$(IP):80" },
      {
        name: "LIMIT",
        valueFrom: { resourceFieldRef: { resource: "limits.memory", divisor: "1Mi" } },
      },
    ],
    resources: { limits: { memory: "64Mi", cpu: "500m" } },
    securityContext: {
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
    },
    volumeMounts: [
      { name: "secret", mountPath: "/secret", readOnly: true },
      { name: "map", mountPath: "/map/only", subPath: "mode" },
      { name: "scratch", mountPath: "/scratch" },
    ],
  };
  pods.pod("exact", {
    restartPolicy: "Never",
    securityContext: {
      runAsUser: 10001,
      runAsGroup: 10001,
      runAsNonRoot: true,
      fsGroup: 3000,
      seccompProfile: { type: "RuntimeDefault" },
    },
    volumes: [
      { name: "secret", secret: { secretName: "settings", defaultMode: 0o400 } },
      { name: "map", configMap: { name: "settings" } },
      { name: "scratch", emptyDir: {} },
    ],
    containers: [container],
  });
  const { status } = await pods.ended("exact");
  const ip = status?.podIP ?? "";
  expect((await pods.log("exact")).split("\n")).toEqual([
    "uid=10001(10001) gid=10001(10001) groups=10001(10001),3000",
    `p w$|fast|${ip}|http://${ip}:80|64|fast-$(MODE)-$(NONE)|exact`,
    "p w$fast440 0 3000",
    "2777 0 3000",
    "10001 3000",
    "sh: 5: cannot create /y: Read-only file system",
    "sh: 5: cannot create /secret/z: Read-only file system",
    "CapEff:\t0000000000000000",
    "CapBnd:\t0000000000000000",
    "NoNewPrivs:\t1",
    "Seccomp:\t2",
    expect.stringMatching(/^defaultcertificatesearch default.svc.cluster.local svc/),
    `nameserver ${pods.node.address}`,
    "options ndots:5",
    `${ip}\texact`,
    "",
  ]);
  expect(status).toMatchObject({ phase: "Succeeded", qosClass: "Guaranteed" });
});

test("a container whose objects are missing, or that may not be root, waits and says why", async ({
  skip,
}) => {
  const pods = world(skip);
  const from = (name: string, key: string) => ({
    ...shell("true"),
    env: [{ name: "A", valueFrom: { secretKeyRef: { name, key } } }],
  });
  const metadata = { name: "partial", namespace: "default" };
  pods.objects.create("secrets", { apiVersion: "v1", kind: "Secret", metadata, data: {} });
  pods.pod("no-secret", { restartPolicy: "Never", containers: [from("absent", "key")] });
  pods.pod("no-key", { restartPolicy: "Never", containers: [from("partial", "key")] });
  pods.pod("root", {
    securityContext: { runAsNonRoot: true },
    containers: [shell("true")],
  });
  pods.pod("no-image", {
    containers: [{ ...shell("true"), image: "example.org/none:1", imagePullPolicy: "Never" }],
  });
  const waiting = async (name: string): Promise<unknown> => {
    const { status } = await pods.until("pods", name, (pod) =>
      (pod.status?.containerStatuses ?? []).some(
        ({ state }) => state.waiting?.message !== undefined,
      ),
    );
    return status?.containerStatuses?.[0]?.state.waiting;
  };
  const reason = "CreateContainerConfigError";
  expect(await waiting("no-secret")).toEqual({ reason, message: 'secret "absent" not found' });
  expect(await waiting("no-key")).toEqual({
    reason,
    message: "couldn't find key key in Secret default/partial",
  });
  expect(await waiting("root")).toEqual({
    reason,
    message: expect.stringMatching(
      /^container has runAsNonRoot and image will run as root \(pod: "root_default\(/,
    ),
  });
  expect(await waiting("no-image")).toEqual({
    reason: "ErrImageNeverPull",
    message: 'Container image "example.org/none:1" is not present with pull policy of Never',
  });
  const absent = { name: "absent", namespace: "default" };
  const data = { key: Buffer.from("x").toString("base64") };
  pods.objects.create("secrets", { apiVersion: "v1", kind: "Secret", metadata: absent, data });
  expect((await pods.ended("no-secret")).status?.phase).toBe("Succeeded");
});

test("init containers run in order before the others, with the pod's volumes", async ({ skip }) => {
  const pods = world(skip);
  const mount = { volumeMounts: [{ name: "shared", mountPath: "/shared" }] };
  pods.pod("steps", {
    restartPolicy: "Never",
    volumes: [{ name: "shared", emptyDir: {} }],
    initContainers: [
      { ...shell("echo one >> /shared/log", mount), name: "one" },
      { ...shell("echo two >> /shared/log", mount), name: "two" },
    ],
    containers: [shell("cat /shared/log", mount)],
  });
  expect((await pods.ended("steps")).status?.phase).toBe("Succeeded");
  expect(await pods.log("steps")).toBe("one\ntwo\n");
});

test("a container that crashes starts again with a back-off, and its log before is kept", async ({
  skip,
}) => {
  const pods = world(skip);
  pods.pod("crash", { containers: [shell("echo $(date +%N); exit 1")] });
  const { status } = await pods.until("pods", "crash", (pod) => {
    const [main] = pod.status?.containerStatuses ?? [];
    return main?.restartCount === 1 && main.state.waiting?.reason === "CrashLoopBackOff";
  });
  expect(status).toMatchObject({
    phase: "Running",
    containerStatuses: [{ lastState: { terminated: { exitCode: 1 } }, ready: false }],
  });
  const read = async (previous: boolean): Promise<string> => {
    let text = "";
    for await (const part of pods.node.log("default", "crash", { previous })) text += part;
    return text;
  };
  expect(await read(true)).not.toBe(await read(false));
  pods.objects.delete("pods", pods.objects.get("pods", "default", "crash") ?? (status as never));
  await pods.gone("pods", "crash");
});

test("a pod that fails its liveness probe restarts, and one that is not ready has no traffic", async ({
  skip,
}) => {
  const pods = world(skip);
  const exec = (path: string) => ({ exec: { command: ["cat", path] }, periodSeconds: 1 });
  pods.pod("probed", {
    terminationGracePeriodSeconds: 1,
    containers: [
      shell("touch /alive /ready; exec sleep 1000", {
        startupProbe: { ...exec("/ready"), failureThreshold: 10 },
        livenessProbe: { ...exec("/alive"), failureThreshold: 2 },
        readinessProbe: exec("/ready"),
      }),
    ],
  });
  await pods.ready("probed");
  await pods.node.exec("default", "probed", "main", ["rm", "/ready"]);
  const unready = await pods.until(
    "pods",
    "probed",
    ({ status }) => status?.containerStatuses?.[0]?.ready === false,
  );
  expect(unready.status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({
    status: "False",
    reason: "ContainersNotReady",
    message: "containers with unready status: [main]",
  });
  await pods.node.exec("default", "probed", "main", ["rm", "/alive"]);
  const { status } = await pods.until(
    "pods",
    "probed",
    (pod) => pod.status?.containerStatuses?.[0]?.restartCount === 1,
  );
  expect(status?.containerStatuses?.[0]?.lastState.terminated?.exitCode).toBe(137);
});

test("a deleted pod runs its hook, gets SIGTERM, and SIGKILL after its grace period", async ({
  skip,
}) => {
  const pods = world(skip);
  const trap = "trap 'echo term; sleep 100' TERM; echo up; while :; do sleep 0.05; done";
  const preStop = { exec: { command: ["sh", "-c", "echo hook > /proc/1/fd/1"] } };
  pods.pod("slow", {
    terminationGracePeriodSeconds: 1,
    containers: [shell(trap, { lifecycle: { preStop } })],
  });
  const pod = await pods.ready("slow");
  await pods.said("slow");
  const log = pods.node.log("default", "slow", { follow: true });
  const lines: string[] = [];
  const reading = (async () => {
    for await (const line of log) lines.push(line);
  })();
  const ends: (number | undefined)[] = [];
  const end = pods.objects.watch("pods", ({ metadata, status }) => {
    const code = status?.containerStatuses?.[0]?.state.terminated?.exitCode;
    if (metadata.name === "slow" && code !== undefined) ends.push(code);
  });
  const beganMs = performance.now();
  pods.objects.delete("pods", pod);
  await pods.gone("pods", "slow");
  end();
  await reading;
  expect(performance.now() - beganMs).toBeGreaterThan(900);
  expect(lines).toEqual(["up\n", "hook\n", "term\n"]);
  expect(ends).toContain(137);
});

test("a Deployment's pods answer behind their Service, by all of its names", async ({ skip }) => {
  const pods = world(skip);
  const labels = { app: "web" };
  const container = {
    ...shell(server),
    ports: [{ name: "http", containerPort: 8080 }],
    readinessProbe: { httpGet: { path: "/", port: "http" }, periodSeconds: 1 },
  };
  pods.objects.create("services", {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "default" },
    spec: { selector: labels, ports: [{ port: 80, targetPort: "http" }] },
  });
  pods.objects.create("deployments", {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  });
  await pods.until("deployments", "web", ({ status }) => status?.availableReplicas === 2);
  const script = `
import os, urllib.request
hosts = ["web", "web.default", "web.default.svc", "web.default.svc.cluster.local"]
print(len({urllib.request.urlopen("http://" + host, timeout=5).read() for host in hosts}))
print(os.environ["WEB_PORT"] == "tcp://%s:80" % os.environ["WEB_SERVICE_HOST"])`;
  const client = { ...shell(""), command: ["python3", "-c", script] };
  pods.pod("client", { restartPolicy: "Never", containers: [client] });
  await pods.ended("client");
  expect(await pods.log("client")).toBe("2\nTrue\n");
});

test("a StatefulSet's pods have names and claims that outlive them", async ({ skip }) => {
  const pods = world(skip);
  const labels = { app: "db" };
  pods.objects.create("services", {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "db", namespace: "default" },
    spec: { selector: labels, clusterIP: "None" },
  });
  const container = shell(
    "cat /data/mark 2>/dev/null; hostname=$(uname -n); echo $hostname > /data/mark; exec sleep 1000",
    {
      volumeMounts: [{ name: "data", mountPath: "/data" }],
    },
  );
  pods.objects.create("statefulsets", {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "db", namespace: "default" },
    spec: {
      serviceName: "db",
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { terminationGracePeriodSeconds: 0, containers: [container] },
      },
      volumeClaimTemplates: [
        { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"] } },
      ],
    },
  });
  const first = await pods.ready("db-0");
  await pods.until("endpointslices", sliceName(pods, "db"), ({ endpoints }) =>
    endpoints.some(({ conditions }) => conditions.ready),
  );
  const script = `import socket
for name in ("db", "db-0.db", "db-0.db.default.svc.cluster.local"): print(socket.gethostbyname(name))`;
  const client = { ...shell(""), command: ["python3", "-c", script] };
  pods.pod("names", { restartPolicy: "Never", containers: [client] });
  await pods.ended("names");
  const ip = first.status?.podIP;
  expect(await pods.log("names")).toBe(`${ip}\n${ip}\n${ip}\n`);
  pods.objects.delete("pods", first);
  await pods.until(
    "pods",
    "db-0",
    ({ metadata, status }) => metadata.uid !== first.metadata.uid && status?.phase === "Running",
  );
  expect(await pods.said("db-0")).toBe("db-0\n");
});

function sliceName(pods: PodWorld, service: string): string {
  const found = pods.objects
    .list("endpointslices")
    .find(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === service);
  return found?.metadata.name ?? "";
}

test("pods reach an exposed port of the host by its name, and nothing else of the host's loopback", async ({
  skip,
}) => {
  const pods = world(skip);
  const { createServer } = await import("node:net");
  const outside = createServer((socket) => socket.end("outside"));
  await new Promise<void>((resolve) => outside.listen(0, "127.0.0.1", resolve));
  const { port } = outside.address() as { port: number };
  await pods.node.exposeHostPort("postgres.test", port);
  const script = `import socket
print(socket.create_connection(("postgres.test", ${port}), 5).recv(99).decode())
try: socket.create_connection(("${pods.node.address}", ${port}), 5)
except OSError as error: print(error.strerror)`;
  const client = { ...shell(""), command: ["python3", "-c", script] };
  pods.pod("outside", { restartPolicy: "Never", containers: [client] });
  await pods.ended("outside");
  outside.close();
  expect(await pods.log("outside")).toBe("outside\nConnection refused\n");
});

test("a Job's pod is made again until it succeeds, and the Job is complete", async ({ skip }) => {
  const pods = world(skip);
  pods.objects.create("jobs", {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "job", namespace: "default" },
    spec: {
      template: { spec: { restartPolicy: "OnFailure", containers: [shell("echo done")] } },
    },
  });
  const { status } = await pods.until("jobs", "job", (job) =>
    (job.status?.conditions ?? []).some(({ type }) => type === "Complete"),
  );
  expect(status?.succeeded).toBe(1);
});

test("a pod that asks for more than the node has stays unscheduled with the reason", async ({
  skip,
}) => {
  const pods = world(skip);
  pods.pod("host", { hostNetwork: true, containers: [{ name: "main", image: testImage }] });
  const { status } = await pods.until(
    "pods",
    "host",
    (pod) => pod.status?.conditions !== undefined,
  );
  expect(status?.conditions).toMatchObject([
    {
      type: "PodScheduled",
      status: "False",
      reason: "Unschedulable",
      message: "0/1 nodes are available: this node has no hostNetwork.",
    },
  ]);
});
