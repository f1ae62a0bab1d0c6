import { expect, test } from "vitest";
import type { Job } from "./kinds.ts";
import { ControllerCluster, templateOf } from "./testing/cluster.ts";

const started = async (more: object): Promise<ControllerCluster> => {
  const cluster = new ControllerCluster();
  cluster.works = false;
  const template = templateOf("job:1", { restartPolicy: "Never" });
  cluster.create("jobs", "Job", "once", { template, ...more });
  await cluster.settle();
  return cluster;
};

const kinds = ({ status }: Job): readonly string[] =>
  (status?.conditions ?? []).map(({ type, reason }) => `${type}: ${reason}`);

const ends = async (cluster: ControllerCluster, phase: string): Promise<void> => {
  const running = cluster.objects.list("pods").find(({ status }) => status?.phase === "Pending");
  cluster.become(running?.metadata.name ?? "", phase);
  await cluster.settle();
};

test("a Job is complete when its pod has succeeded", async () => {
  using cluster = await started({});
  const [pod] = cluster.objects.list("pods");
  const { uid } = cluster.get("jobs", "once").metadata;
  expect(pod?.metadata.labels).toMatchObject({
    "batch.kubernetes.io/job-name": "once",
    "batch.kubernetes.io/controller-uid": uid,
    "job-name": "once",
  });
  expect(cluster.get("jobs", "once").status).toMatchObject({ active: 1, ready: 0, terminating: 0 });
  await ends(cluster, "Succeeded");
  const job = cluster.get("jobs", "once");
  expect(kinds(job)).toEqual([
    "SuccessCriteriaMet: CompletionsReached",
    "Complete: CompletionsReached",
  ]);
  expect(job.status).toMatchObject({ succeeded: 1, ready: 0 });
  expect(job.status?.active).toBeUndefined();
  expect(job.status?.completionTime).toBeDefined();
  expect(cluster.failures).toEqual([]);
});

test("a failed pod is made again after a wait that doubles, until the back-off limit", async () => {
  using cluster = await started({ backoffLimit: 2 });
  await ends(cluster, "Failed");
  expect(cluster.names("pods")).toHaveLength(1);
  await cluster.advance(11);
  expect(cluster.names("pods")).toHaveLength(2);
  await ends(cluster, "Failed");
  await cluster.advance(11);
  expect(cluster.names("pods")).toHaveLength(2);
  await cluster.advance(11);
  expect(cluster.names("pods")).toHaveLength(3);
  await ends(cluster, "Failed");
  const job = cluster.get("jobs", "once");
  expect(kinds(job)).toEqual([
    "FailureTarget: BackoffLimitExceeded",
    "Failed: BackoffLimitExceeded",
  ]);
  expect(job.status?.failed).toBe(3);
});

test("a Job that runs past its deadline fails when its pod has ended", async () => {
  using cluster = await started({ activeDeadlineSeconds: 20 });
  const [name = ""] = cluster.names("pods");
  const pod = cluster.get("pods", name);
  pod.spec.nodeName = "node-1";
  cluster.objects.update("pods", pod);
  cluster.become(name, "Running", true);
  await cluster.advance(21);
  expect(kinds(cluster.get("jobs", "once"))).toEqual(["FailureTarget: DeadlineExceeded"]);
  expect(cluster.get("pods", name).metadata.deletionTimestamp).toBeDefined();
  cluster.objects.delete("pods", cluster.get("pods", name), 0);
  await cluster.settle();
  expect(kinds(cluster.get("jobs", "once"))).toEqual([
    "FailureTarget: DeadlineExceeded",
    "Failed: DeadlineExceeded",
  ]);
});

test("a Job is deleted when its time after the end is over", async () => {
  using cluster = await started({ ttlSecondsAfterFinished: 60 });
  await ends(cluster, "Succeeded");
  await cluster.advance(50);
  expect(cluster.names("jobs")).toEqual(["once"]);
  await cluster.advance(15);
  expect(cluster.names("jobs")).toEqual([]);
});
