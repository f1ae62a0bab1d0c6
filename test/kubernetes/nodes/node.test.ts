/** Pods of Podman: what a container sees and does is what its pod says. */
import { Podman } from "@trainyard/service-agent/testing/podman";
import { afterAll, beforeAll, expect, test } from "vitest";
import { networkProblem } from "./index.ts";
import { needPods, PodWorld, server, shell } from "./testing/pod-world.ts";
import { podmanProblem } from "@trainyard/service-agent/testing/podman";

let podman: Podman | null = null;
let opened: PodWorld | null = null;

beforeAll(async () => {
  if ((podmanProblem() ?? networkProblem()) !== null) return;
  podman = await Podman.start();
  opened = await PodWorld.start(podman);
});

afterAll(async () => {
  await opened?.[Symbol.asyncDispose]();
  await podman?.[Symbol.asyncDispose]();
});

function world(skip: (note: string) => never): PodWorld {
  needPods(skip);
  if (opened === null) throw new Error("the node did not start");
  return opened;
}

test("a pod that never restarts ends with its container's code", async ({ skip }) => {
  const pods = world(skip);
  pods.pod("once", { restartPolicy: "Never", containers: [shell("echo hello; exit 3")] });
  const { status } = await pods.ended("once");
  expect(status).toMatchObject({
    phase: "Failed",
    containerStatuses: [
      { name: "main", ready: false, state: { terminated: { exitCode: 3, reason: "Error" } } },
    ],
  });
  expect(await pods.log("once")).toBe("hello\n");
});

test("a Deployment's pods answer behind their Service", async ({ skip }) => {
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
import urllib.request
names = {urllib.request.urlopen("http://" + host, timeout=5).read().decode()
         for host in ("web", "web.default", "web.default.svc", "web.default.svc.cluster.local")}
print(len(names))`;
  const client = { ...shell(""), command: ["python3", "-c", script] };
  pods.pod("client", { restartPolicy: "Never", containers: [client] });
  await pods.ended("client");
  expect(await pods.log("client")).toBe("2\n");
});
