import { expect, test } from "vitest";
import { ControllerCluster, labels, specOf } from "./testing/cluster.ts";

const withPort = {
  template: {
    metadata: { labels },
    spec: {
      containers: [
        { name: "main", image: "web:1", ports: [{ name: "http", containerPort: 8080 }] },
      ],
    },
  },
};

async function served(service: object): Promise<ControllerCluster> {
  const cluster = new ControllerCluster();
  cluster.create("services", "Service", "web", { selector: labels, ...service });
  cluster.create("deployments", "Deployment", "web", specOf(2, "web:1", withPort));
  await cluster.settle();
  return cluster;
}

test("a Service's slice has its ready pods and the number of its named port", async () => {
  using cluster = await served({ ports: [{ name: "http", port: 80, targetPort: "http" }] });
  const [slice] = cluster.objects.list("endpointslices", "default");
  expect(slice?.metadata.labels).toMatchObject({ "kubernetes.io/service-name": "web" });
  expect(slice?.ports).toEqual([{ name: "http", port: 8080, protocol: "TCP" }]);
  expect(slice?.endpoints.map(({ conditions }) => conditions)).toEqual([
    { ready: true, serving: true, terminating: false },
    { ready: true, serving: true, terminating: false },
  ]);
  const endpoints = cluster.get("endpoints", "web");
  expect(endpoints.subsets).toMatchObject([
    {
      addresses: [{ nodeName: "node-1" }, { nodeName: "node-1" }],
      ports: [{ name: "http", port: 8080 }],
    },
  ]);
  expect(cluster.failures).toEqual([]);
});

test("a pod that is not ready, or is being deleted, is no ready endpoint", async () => {
  using cluster = await served({ ports: [{ port: 80 }] });
  cluster.works = false;
  const [first = "", second = ""] = cluster.names("pods");
  cluster.become(first, "Running", false);
  cluster.objects.delete("pods", cluster.get("pods", second));
  await cluster.settle();
  const conditions = (): readonly object[] =>
    cluster.objects
      .list("endpointslices", "default")
      .flatMap(({ endpoints }) => endpoints.map((one) => one.conditions));
  expect(conditions()).toEqual([
    { ready: false, serving: false, terminating: false },
    { ready: false, serving: true, terminating: true },
  ]);
  expect(cluster.get("endpoints", "web").subsets).toMatchObject([
    { notReadyAddresses: [{ ip: "10.0.0.1" }] },
  ]);
});

test("a Service that publishes pods that are not ready has them as ready endpoints", async () => {
  using cluster = await served({ clusterIP: "None", publishNotReadyAddresses: true });
  cluster.works = false;
  const [first = ""] = cluster.names("pods");
  cluster.become(first, "Running", false);
  await cluster.settle();
  const [slice] = cluster.objects.list("endpointslices", "default");
  expect(slice?.endpoints.map(({ conditions }) => conditions.ready)).toEqual([true, true]);
});

test("a deleted Service leaves no endpoints", async () => {
  using cluster = await served({ ports: [{ port: 80 }] });
  cluster.objects.delete("services", cluster.get("services", "web"));
  await cluster.settle();
  expect(cluster.names("endpointslices")).toEqual([]);
  expect(cluster.names("endpoints")).toEqual([]);
});

test("a PodDisruptionBudget counts its healthy pods and allows the rest to go", async () => {
  using cluster = await served({ ports: [{ port: 80 }] });
  const selector = { matchLabels: labels };
  cluster.create("poddisruptionbudgets", "PodDisruptionBudget", "web", {
    selector,
    maxUnavailable: 1,
  });
  await cluster.settle();
  const status = () => cluster.get("poddisruptionbudgets", "web").status;
  expect(status()).toMatchObject({
    expectedPods: 2,
    currentHealthy: 2,
    desiredHealthy: 1,
    disruptionsAllowed: 1,
    conditions: [{ type: "DisruptionAllowed", status: "True", reason: "SufficientPods" }],
  });
  cluster.works = false;
  cluster.become(cluster.names("pods")[0] ?? "", "Running", false);
  await cluster.settle();
  expect(status()).toMatchObject({
    currentHealthy: 1,
    disruptionsAllowed: 0,
    conditions: [{ status: "False", reason: "InsufficientPods" }],
  });
});
