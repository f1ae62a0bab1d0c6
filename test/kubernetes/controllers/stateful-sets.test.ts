import { expect, test } from "vitest";
import { ControllerCluster, specOf, templateOf } from "./testing/cluster.ts";

const claim = {
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};

test("a StatefulSet starts its pods in order, each with its own claim and host name", async () => {
  using cluster = new ControllerCluster();
  cluster.works = false;
  const spec = specOf(2, "db:1", { serviceName: "db", volumeClaimTemplates: [claim] });
  cluster.create("statefulsets", "StatefulSet", "db", spec);
  await cluster.settle();
  expect(cluster.names("pods")).toEqual(["db-0"]);
  cluster.become("db-0", "Running");
  await cluster.settle();
  expect(cluster.names("pods")).toEqual(["db-0"]);
  cluster.become("db-0", "Running", true);
  await cluster.settle();
  expect(cluster.names("pods")).toEqual(["db-0", "db-1"]);
  const pod = cluster.get("pods", "db-1");
  expect(pod.spec).toMatchObject({
    hostname: "db-1",
    subdomain: "db",
  });
  const claimed = { name: "data", persistentVolumeClaim: { claimName: "data-db-1" } };
  expect(pod.spec.volumes?.[0]).toEqual(claimed);
  expect(pod.metadata.labels).toMatchObject({
    "statefulset.kubernetes.io/pod-name": "db-1",
    "apps.kubernetes.io/pod-index": "1",
    "controller-revision-hash": cluster.get("statefulsets", "db").status?.updateRevision,
  });
  expect(cluster.get("persistentvolumeclaims", "data-db-0").status).toEqual({
    phase: "Bound",
    accessModes: ["ReadWriteOnce"],
    capacity: { storage: "1Gi" },
  });
  cluster.become("db-1", "Running", true);
  await cluster.settle();
  expect(cluster.get("statefulsets", "db").status).toMatchObject({
    observedGeneration: 1,
    replicas: 2,
    readyReplicas: 2,
    availableReplicas: 2,
    currentReplicas: 2,
    updatedReplicas: 2,
  });
  expect(cluster.failures).toEqual([]);
});

test("a rolling update replaces pods from the highest ordinal, the next when the one before is ready", async () => {
  using cluster = new ControllerCluster();
  cluster.create("statefulsets", "StatefulSet", "db", specOf(3, "db:1"));
  await cluster.settle();
  cluster.works = false;
  cluster.change("statefulsets", "db", { template: templateOf("db:2") });
  await cluster.settle();
  const ends = () => cluster.objects.list("pods").filter((pod) => pod.metadata.deletionTimestamp);
  expect(ends().map(({ metadata }) => metadata.name)).toEqual(["db-2"]);
  const last = cluster.get("pods", "db-2");
  cluster.objects.delete("pods", last, 0);
  await cluster.settle();
  expect(cluster.get("pods", "db-2").spec.containers[0]?.image).toBe("db:2");
  expect(ends()).toEqual([]);
  const { status } = cluster.get("statefulsets", "db");
  expect(status).toMatchObject({ currentReplicas: 2, updatedReplicas: 1, readyReplicas: 2 });
  expect(status?.currentRevision).not.toBe(status?.updateRevision);
  cluster.works = true;
  cluster.run(cluster.get("pods", "db-2"));
  await cluster.settle();
  const images = cluster.objects.list("pods").map(({ spec }) => spec.containers[0]?.image);
  expect(images).toEqual(["db:2", "db:2", "db:2"]);
  const after = cluster.get("statefulsets", "db").status;
  expect(after).toMatchObject({ currentReplicas: 3, updatedReplicas: 3 });
  expect(after?.currentRevision).toBe(after?.updateRevision);
});

test("a partition keeps the pods below it, also when they are made again", async () => {
  using cluster = new ControllerCluster();
  cluster.create("statefulsets", "StatefulSet", "db", specOf(2, "db:1"));
  await cluster.settle();
  const updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition: 1 } };
  cluster.change("statefulsets", "db", { updateStrategy, template: templateOf("db:2") });
  await cluster.settle();
  cluster.objects.delete("pods", cluster.get("pods", "db-0"));
  await cluster.settle();
  const images = cluster.objects.list("pods").map(({ spec }) => spec.containers[0]?.image);
  expect(images).toEqual(["db:1", "db:2"]);
});

test("a StatefulSet is scaled down from the highest ordinal, and its claims stay", async () => {
  using cluster = new ControllerCluster();
  cluster.create(
    "statefulsets",
    "StatefulSet",
    "db",
    specOf(3, "db:1", { volumeClaimTemplates: [claim] }),
  );
  await cluster.settle();
  cluster.works = false;
  cluster.change("statefulsets", "db", { replicas: 1 });
  await cluster.settle();
  const ends = cluster.objects.list("pods").filter((pod) => pod.metadata.deletionTimestamp);
  expect(ends.map(({ metadata }) => metadata.name)).toEqual(["db-2"]);
  cluster.works = true;
  for (const pod of cluster.objects.list("pods")) cluster.run(pod);
  await cluster.settle();
  expect(cluster.names("pods")).toEqual(["db-0"]);
  expect(cluster.names("persistentvolumeclaims")).toEqual(["data-db-0", "data-db-1", "data-db-2"]);
});

test("a template that is used again is the newest revision under its old name", async () => {
  using cluster = new ControllerCluster();
  cluster.create("statefulsets", "StatefulSet", "db", specOf(1, "db:1"));
  await cluster.settle();
  const first = cluster.get("statefulsets", "db").status?.updateRevision;
  cluster.change("statefulsets", "db", { template: templateOf("db:2") });
  await cluster.settle();
  cluster.change("statefulsets", "db", { template: templateOf("db:1") });
  await cluster.settle();
  expect(cluster.get("statefulsets", "db").status?.updateRevision).toBe(first);
  const revisions = cluster.objects.list("controllerrevisions").map(({ revision }) => revision);
  expect([...revisions].sort()).toEqual([2, 3]);
});
