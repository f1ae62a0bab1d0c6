/** Pods of Podman: what a container sees and does is what its pod says. */
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { service } from "grpc-health-check";
import { expect, test } from "vitest";
import { tried } from "./probes.ts";
import { sharedWorld, shell, testImage } from "./testing/pod-world.ts";

const world = sharedWorld();

type Called = { readonly request: { readonly service: string } };
type Answers = (error: null, answer: { readonly status: number }) => void;

test("a pod that never restarts ends with its container's code, output and last words", async ({
  skip,
}) => {
  const pods = world(skip);
  const script = "echo hello ${TY_TEST_RUN:+marked}; echo bye > /dev/termination-log; exit 3";
  pods.pod("once", { restartPolicy: "Never", containers: [shell(script)] });
  const { status } = await pods.ended("once");
  const terminated = { exitCode: 3, reason: "Error", message: "bye\n" };
  expect(status).toMatchObject({
    phase: "Failed",
    containerStatuses: [{ name: "main", ready: false, state: { terminated } }],
  });
  expect(await pods.log("once")).toBe("hello marked\n");
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
echo; cat /etc/resolv.conf; tail -1 /etc/hosts`;
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
    "default",
    "search default.svc.cluster.local svc.cluster.local cluster.local",
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
  expect(await pods.log("crash", { previous: true })).not.toBe(await pods.log("crash"));
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
  const run = (argv: string[], ms = 30_000) =>
    pods.node.exec("default", "probed", "main", argv, AbortSignal.timeout(ms));
  // A program whose time is over is killed.
  await expect(run(["sleep", "777"], 500)).rejects.toThrow("aborted due to timeout");
  expect((await run(["ps", "-ef"])).output).not.toContain("sleep 777");
  await run(["rm", "/ready"]);
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
  await run(["rm", "/alive"]);
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
  const log = pods.lines("slow", { follow: true });
  const lines: unknown[] = [];
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

test("probes by TCP and gRPC pass when their server does, and a container over its memory is killed", async ({
  skip,
}) => {
  const pods = world(skip);
  const listens = `exec python3 -c 'import socket, time
held = socket.create_server(("", 7000))
time.sleep(1000)'`;
  const probed = (name: string, probe: object): void => {
    const readinessProbe = { ...probe, periodSeconds: 1, failureThreshold: 1 };
    pods.pod(name, { containers: [shell(listens, { readinessProbe })] });
  };
  probed("tcp", { tcpSocket: { port: 7000 } });
  probed("grpc", { grpc: { port: 7001 } });
  const server = new Server();
  server.addService(service, {
    check: ({ request }: Called, done: Answers) =>
      done(null, { status: request.service === "" ? 1 : 2 }),
  } as never);
  const port = await new Promise<number>((resolve, reject) => {
    const bound = (error: Error | null, at: number): void => (error ? reject(error) : resolve(at));
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), bound);
  });
  const target = { podIP: "127.0.0.1", container: shell(""), id: "", podman: null as never };
  expect(await tried({ grpc: { port } }, target, 5_000)).toEqual({ ok: true, message: "" });
  expect((await tried({ grpc: { port, service: "other" } }, target, 5_000)).message).toMatch(
    /NOT_SERVING/,
  );
  server.forceShutdown();
  await pods.ready("tcp");
  const { status } = await pods.until("pods", "grpc", (pod) => pod.status?.phase === "Running");
  expect(status?.containerStatuses?.[0]?.ready).toBe(false);
  const hungry = { ...shell(""), command: ["python3", "-c", "print(len(b'x' * 200_000_000))"] };
  const limited = { ...hungry, resources: { limits: { memory: "50Mi" } } };
  pods.pod("hungry", { restartPolicy: "Never", containers: [limited] });
  const killed = (await pods.ended("hungry")).status?.containerStatuses?.[0]?.state.terminated;
  expect(killed?.exitCode).toBe(137);
});

test("a pod that runs past its deadline is ended, and keeps its object", async ({ skip }) => {
  const pods = world(skip);
  pods.pod("late", {
    activeDeadlineSeconds: 1,
    terminationGracePeriodSeconds: 0,
    containers: [shell("exec sleep 1000")],
  });
  const { status } = await pods.ended("late");
  expect(status).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded" });
  expect(status?.containerStatuses?.[0]?.state.terminated?.exitCode).toBe(137);
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
