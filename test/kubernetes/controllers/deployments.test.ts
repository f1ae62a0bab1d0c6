import { expect, test } from "vitest";
import { ControllerCluster, labels, specOf, templateOf } from "./testing/cluster.ts";
import type { Deployment } from "./kinds.ts";

const condition = ({ status }: Deployment, type: string) =>
  status?.conditions?.find((one) => one.type === type);

test("a Deployment's pods have its ReplicaSet's hash, and its status says that it is complete", async () => {
  using cluster = new ControllerCluster();
  cluster.create("deployments", "Deployment", "web", specOf(2, "web:1"));
  await cluster.settle();
  const [set] = cluster.objects.list("replicasets", "default");
  const hash = set?.metadata.labels?.["pod-template-hash"];
  expect(set?.metadata.name).toBe(`web-${hash}`);
  for (const pod of cluster.objects.list("pods", "default")) {
    expect(pod.metadata.labels).toEqual({ ...labels, "pod-template-hash": hash });
    expect(pod.metadata.name).toMatch(new RegExp(`^web-${hash}-[a-z0-9]{5}$`));
  }
  const web = cluster.get("deployments", "web");
  expect(web.metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe("1");
  expect(web.status).toMatchObject({
    observedGeneration: 1,
    replicas: 2,
    updatedReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 2,
    unavailableReplicas: 0,
  });
  expect(condition(web, "Available")).toMatchObject({
    status: "True",
    reason: "MinimumReplicasAvailable",
  });
  expect(condition(web, "Progressing")).toMatchObject({
    status: "True",
    reason: "NewReplicaSetAvailable",
    message: `ReplicaSet "web-${hash}" has successfully progressed.`,
  });
  expect(cluster.failures).toEqual([]);
});

test("a rolling update keeps the available pods and adds no more than its surge", async () => {
  using cluster = new ControllerCluster();
  const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  cluster.create("deployments", "Deployment", "web", specOf(3, "web:1", { strategy }));
  await cluster.settle();
  const counts: number[] = [];
  const available: number[] = [];
  cluster.objects.watch("pods", () => {
    const pods = cluster.objects
      .list("pods", "default")
      .filter((pod) => !pod.metadata.deletionTimestamp);
    counts.push(pods.length);
    available.push(pods.filter(({ status }) => status?.conditions?.[0]?.status === "True").length);
  });
  cluster.change("deployments", "web", { template: templateOf("web:2") });
  await cluster.settle();
  const images = cluster.objects.list("pods").map(({ spec }) => spec.containers[0]?.image);
  expect(images).toEqual(["web:2", "web:2", "web:2"]);
  expect(Math.max(...counts)).toBe(4);
  expect(Math.min(...available)).toBe(3);
  expect(cluster.get("deployments", "web").status).toMatchObject({
    observedGeneration: 2,
    updatedReplicas: 3,
  });
});

test("a rollout whose pods never become ready keeps the old pods, and exceeds its deadline", async () => {
  using cluster = new ControllerCluster();
  cluster.create(
    "deployments",
    "Deployment",
    "web",
    specOf(4, "web:1", { progressDeadlineSeconds: 60 }),
  );
  await cluster.settle();
  cluster.works = false;
  cluster.change("deployments", "web", { template: templateOf("web:bad") });
  await cluster.settle();
  // 25% of 4: one more, and one less.
  const images = () =>
    cluster.objects
      .list("pods")
      .filter((pod) => !pod.metadata.deletionTimestamp)
      .map(({ spec }) => spec.containers[0]?.image)
      .sort();
  expect(images()).toEqual(["web:1", "web:1", "web:1", "web:bad", "web:bad"]);
  const web = () => cluster.get("deployments", "web");
  expect(condition(web(), "Progressing")).toMatchObject({
    status: "True",
    reason: "ReplicaSetUpdated",
  });
  expect(condition(web(), "Available")?.status).toBe("True");
  await cluster.advance(61);
  expect(condition(web(), "Progressing")).toMatchObject({
    status: "False",
    reason: "ProgressDeadlineExceeded",
  });
  // The way back: the old ReplicaSet is the newest revision again, and pods that never were ready are gone.
  cluster.change("deployments", "web", { template: templateOf("web:1") });
  cluster.works = true;
  for (const pod of cluster.objects.list("pods")) cluster.run(pod);
  await cluster.settle();
  expect(images()).toEqual(["web:1", "web:1", "web:1", "web:1"]);
  expect(web().metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe("3");
  expect(condition(web(), "Progressing")?.reason).toBe("NewReplicaSetAvailable");
});

test("Recreate ends all old pods before it makes the first new one", async () => {
  using cluster = new ControllerCluster();
  cluster.create(
    "deployments",
    "Deployment",
    "web",
    specOf(2, "web:1", { strategy: { type: "Recreate" } }),
  );
  await cluster.settle();
  const both: boolean[] = [];
  cluster.objects.watch("pods", () => {
    const images = cluster.objects.list("pods").map(({ spec }) => spec.containers[0]?.image);
    both.push(new Set(images).size > 1);
  });
  cluster.change("deployments", "web", { template: templateOf("web:2") });
  await cluster.settle();
  expect(cluster.objects.list("pods").map(({ spec }) => spec.containers[0]?.image)).toEqual([
    "web:2",
    "web:2",
  ]);
  expect(both).not.toContain(true);
});

test("a Deployment scaled to 0 has no pods and is complete", async () => {
  using cluster = new ControllerCluster();
  cluster.create("deployments", "Deployment", "web", specOf(2, "web:1"));
  await cluster.settle();
  cluster.change("deployments", "web", { replicas: 0 });
  await cluster.settle();
  expect(cluster.names("pods")).toEqual([]);
  const web = cluster.get("deployments", "web");
  expect(web.status).toMatchObject({ observedGeneration: 2, replicas: 0, availableReplicas: 0 });
  expect(condition(web, "Progressing")?.reason).toBe("NewReplicaSetAvailable");
});

test("a Deployment keeps as many old ReplicaSets as its history's limit", async () => {
  using cluster = new ControllerCluster();
  cluster.create(
    "deployments",
    "Deployment",
    "web",
    specOf(1, "web:0", { revisionHistoryLimit: 2 }),
  );
  await cluster.settle();
  for (const tag of [1, 2, 3, 4]) {
    cluster.change("deployments", "web", { template: templateOf(`web:${tag}`) });
    await cluster.settle();
  }
  const images = cluster.objects
    .list("replicasets")
    .map(({ spec }) => spec.template.spec.containers[0]?.image)
    .sort();
  expect(images).toEqual(["web:2", "web:3", "web:4"]);
});

test("a pod counts as available after its minReadySeconds", async () => {
  using cluster = new ControllerCluster();
  cluster.create("deployments", "Deployment", "web", specOf(1, "web:1", { minReadySeconds: 30 }));
  await cluster.settle();
  const status = () => cluster.get("deployments", "web").status;
  expect(status()).toMatchObject({ readyReplicas: 1, availableReplicas: 0 });
  await cluster.advance(31);
  expect(status()).toMatchObject({ readyReplicas: 1, availableReplicas: 1 });
});

test("a deleted pod is replaced, and one that lost its label is released", async () => {
  using cluster = new ControllerCluster();
  cluster.create("deployments", "Deployment", "web", specOf(1, "web:1"));
  await cluster.settle();
  const [first = ""] = cluster.names("pods");
  cluster.objects.delete("pods", cluster.get("pods", first));
  await cluster.settle();
  const [second = ""] = cluster.names("pods");
  expect(second).not.toBe(first);
  const pod = cluster.get("pods", second);
  cluster.objects.update("pods", {
    ...pod,
    metadata: { ...pod.metadata, labels: { app: "other" } },
  });
  await cluster.settle();
  expect(cluster.names("pods")).toHaveLength(2);
  expect(cluster.get("pods", second).metadata.ownerReferences).toEqual([]);
});

test("a paused Deployment is scaled and not rolled out", async () => {
  using cluster = new ControllerCluster();
  cluster.create("deployments", "Deployment", "web", specOf(1, "web:1"));
  await cluster.settle();
  cluster.change("deployments", "web", {
    paused: true,
    replicas: 2,
    template: templateOf("web:2"),
  });
  await cluster.settle();
  expect(cluster.objects.list("pods").map(({ spec }) => spec.containers[0]?.image)).toEqual([
    "web:1",
    "web:1",
  ]);
});
