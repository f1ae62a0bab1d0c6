/** Pods that find each other, the API server and the host: Services, names, and the controllers behind them. */
import { createServer } from "node:net";
import { expect, test } from "vitest";
import type { Kinds } from "../controllers/kinds.ts";
import { type PodWorld, server, sharedWorld, shell, testImage } from "./testing/pod-world.ts";

const world = sharedWorld();

test("a Deployment's pods answer behind their Service, by all of its names", async ({ skip }) => {
  const pods = world(skip);
  const labels = { app: "web" };
  const container = {
    ...shell(server),
    ports: [{ name: "http", containerPort: 8080 }],
    lifecycle: { preStop: { sleep: { seconds: 1 } } },
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

test("a rolling update of pods that leave slowly fails no request", async ({ skip }) => {
  const pods = world(skip);
  const { clusterIP } = pods.objects.get("services", "default", "web")?.spec ?? {};
  const rolling = new AbortController();
  let [answered, failed] = [0, 0];
  const asking = (async () => {
    while (!rolling.signal.aborted) {
      // Each request is a connection of its own.
      const headers = { connection: "close" };
      const signal = AbortSignal.timeout(5_000);
      const isOk = await fetch(`http://${clusterIP}`, { headers, signal }).then(
        async (answer) => (await answer.text()).startsWith("web-"),
        () => false,
      );
      if (isOk) answered += 1;
      else failed += 1;
    }
  })();
  const web = pods.objects.get("deployments", "default", "web");
  if (web === null) throw new Error("the Deployment is gone");
  const [container] = web.spec.template.spec.containers;
  if (container === undefined) throw new Error("the Deployment has no container");
  container.env = [{ name: "VERSION", value: "2" }];
  web.spec.strategy = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  pods.objects.update("deployments", web);
  const rolled = ({ metadata, status }: Kinds["deployments"]): boolean =>
    status?.observedGeneration === metadata.generation &&
    status?.updatedReplicas === 2 &&
    status.replicas === 2 &&
    status.availableReplicas === 2;
  await pods.until("deployments", "web", rolled);
  rolling.abort();
  await asking;
  expect(failed).toBe(0);
  expect(answered).toBeGreaterThan(5);
});

test("a Service whose only pod is about to end leads there until it stops", async ({ skip }) => {
  const pods = world(skip);
  const labels = { app: "last" };
  const lifecycle = { preStop: { sleep: { seconds: 30 } } };
  const readinessProbe = { tcpSocket: { port: 8080 }, periodSeconds: 1 };
  const containers = [{ ...shell(server), lifecycle, readinessProbe }];
  const made = pods.objects.create("services", {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "last", namespace: "default" },
    spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
  });
  const pod = pods.pod("last", { containers }, { labels });
  await pods.ready("last");
  const said = () =>
    fetch(`http://${made.spec.clusterIP}`, { headers: { connection: "close" } }).then(
      (answer) => answer.text(),
      () => "refused",
    );
  await expect.poll(said).toBe("last");
  pods.objects.delete("pods", pod);
  for (let asked = 0; asked < 20; asked += 1) expect(await said()).toBe("last");
  pods.objects.delete("pods", pod, 0);
  await expect.poll(said).toBe("refused");
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
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } } },
        },
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

test("a pod reaches the API server with its token, by name and by address", async ({ skip }) => {
  const pods = world(skip);
  const script = `
import json, os, ssl, urllib.error, urllib.request
folder = "/var/run/secrets/kubernetes.io/serviceaccount/"
context = ssl.create_default_context(cafile=folder + "ca.crt")
headers = {"Authorization": "Bearer " + open(folder + "token").read()}
for host in ("kubernetes.default.svc", os.environ["KUBERNETES_SERVICE_HOST"]):
    request = urllib.request.Request("https://" + host + "/version", headers=headers)
    print(json.load(urllib.request.urlopen(request, context=context, timeout=5))["major"])
request = urllib.request.Request("https://kubernetes.default/api/v1/namespaces/default/secrets", headers=headers)
try: urllib.request.urlopen(request, context=context, timeout=5)
except urllib.error.HTTPError as error: print(json.load(error)["message"])`;
  const client = { ...shell(""), command: ["python3", "-c", script] };
  pods.pod("inside", { restartPolicy: "Never", containers: [client] });
  await pods.ended("inside");
  expect(await pods.log("inside")).toBe(
    '1\n1\nsecrets is forbidden: User "system:serviceaccount:default:default" cannot list resource "secrets" in API group "" in the namespace "default"\n',
  );
});

test("an image's user, entrypoint and arguments hold, and volumes are mounted over its folders", async ({
  skip,
}) => {
  const pods = world(skip);
  const image = "localhost/own:1";
  const changes = ["USER 10001", 'ENTRYPOINT ["sh", "-c"]', 'CMD ["echo image"]'];
  pods.podman.run("create", "--name", "own", testImage, "true");
  const given = changes.flatMap((change) => ["--change", change]);
  pods.podman.run("commit", "--quiet", ...given, "own", image);
  pods.podman.run("rm", "own");
  const metadata = { name: "names", namespace: "default" };
  const data = { "agent-own": Buffer.from("credentials").toString("base64") };
  pods.objects.create("secrets", { apiVersion: "v1", kind: "Secret", metadata, data });
  const container = (args?: readonly string[]) => ({
    name: "main",
    image,
    ...(args === undefined ? {} : { args }),
    env: [{ name: "NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
    securityContext: { runAsNonRoot: true },
    volumeMounts: [
      { name: "memory", mountPath: "/dev/shm" },
      { name: "names", mountPath: "/etc/own", subPathExpr: "agent-$(NAME)", readOnly: true },
    ],
  });
  const spec = {
    restartPolicy: "Never",
    volumes: [
      { name: "memory", emptyDir: { medium: "Memory" } },
      { name: "names", secret: { secretName: "names" } },
    ],
  };
  const script = "id -u; echo x > /dev/shm/x && ls /dev/shm; cat /etc/own";
  const { volumeMounts: _, ...bare } = container();
  pods.pod("image", { restartPolicy: "Never", containers: [bare] });
  pods.pod("own", { ...spec, volumes: [...spec.volumes], containers: [container([script])] });
  await pods.ended("own");
  expect(await pods.log("own")).toBe("10001\nx\ncredentials");
  await pods.ended("image");
  expect(await pods.log("image")).toBe("image\n");
});
