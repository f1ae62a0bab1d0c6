// helm is the judge: a tiny chart is installed, upgraded, rolled back and removed.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { notRun } from "@trainyard/testing/needs";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { needPrograms } from "../programs.ts";
import { type Called, type Cluster, startCluster } from "./testing/cluster.ts";
import { endJobs } from "./testing/jobs.ts";
import { writeTinyChart } from "./testing/tiny-chart.ts";

let chart: string;
let cluster: Cluster;
let namespace: string;
beforeAll(async () => {
  chart = await mkdtemp(join(tmpdir(), "tiny-chart-"));
  await writeTinyChart(chart);
  cluster = await startCluster();
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await rm(chart, { recursive: true });
});
beforeEach(async ({ skip }) => {
  needPrograms(skip);
  namespace = await cluster.namespace();
});

const helm = (...args: readonly string[]): Promise<Called> =>
  cluster.call("helm", ["-n", namespace, ...args]);
const works = async (...args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await helm(...args);
  expect(code, stderr).toBe(0);
  return stdout;
};
const containers = (): Promise<string> =>
  cluster.kubectl([
    "-n",
    namespace,
    "get",
    "deployment",
    "tiny-web",
    "-o",
    "jsonpath={.spec.replicas} {.spec.template.spec.containers[*].image}",
  ]);

test("helm installs, upgrades, rolls back and removes a release", async () => {
  expect(await works("install", "tiny", chart)).toContain("STATUS: deployed");
  expect(await containers()).toBe("1 localhost/web:1 localhost/side:1");
  await works("upgrade", "tiny", chart, "--set", "image=localhost/web:2,side=false,replicas=2");
  expect(await containers()).toBe("2 localhost/web:2");
  await works("rollback", "tiny", "1");
  expect(await containers()).toBe("1 localhost/web:1 localhost/side:1");
  expect(await works("history", "tiny", "-o", "json")).toContain('"description":"Rollback to 1"');
  await works("uninstall", "tiny");
  const left = ["-n", namespace, "get", "all,secrets,configmaps", "-o", "name"];
  expect(await cluster.kubectl(left)).toBe("configmap/kube-root-ca.crt\n");
});

test("an upgrade that changes nothing leaves the objects as they are", async () => {
  await works("install", "tiny", chart);
  // Controllers of a real cluster write the status of a Deployment at any time, and not its generation.
  const version = async () => {
    const read = (kinds: string, field: string) =>
      cluster.kubectl([
        "-n",
        namespace,
        "get",
        kinds,
        "-o",
        `jsonpath={.items[*].metadata.${field}}`,
      ]);
    return [
      await read("deployment", "generation"),
      await read("service,configmap", "resourceVersion"),
    ];
  };
  const before = await version();
  await works("upgrade", "tiny", chart);
  expect(await version()).toEqual(before);
});

test("helm names the manager whose field it would change", async () => {
  await works("install", "tiny", chart);
  await cluster.kubectl([
    "-n",
    namespace,
    "set",
    "image",
    "deployment/tiny-web",
    "web=localhost/web:9",
  ]);
  const { code, stderr } = await helm("upgrade", "tiny", chart, "--set", "image=localhost/web:3");
  expect(code).toBe(1);
  expect(stderr).toContain(
    'conflict with "kubectl-set" using apps/v1: .spec.template.spec.containers[name="web"].image',
  );
  await works("upgrade", "tiny", chart, "--set", "image=localhost/web:3", "--force-conflicts");
  expect(await containers()).toBe("1 localhost/web:3 localhost/side:1");
});

test("a misspelt field of a chart is refused by name", async () => {
  const { code, stderr } = await helm("install", "tiny", chart, "--set", "side=false,replicas=two");
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /\.spec\.replicas: expected numeric|cannot unmarshal string into Go struct field/,
  );
});

test("helm waits for the jobs of its hooks", async ({ skip }) => {
  const { server } = cluster;
  if (server === null) return notRun(skip, "the strict server: a real cluster ends jobs itself");
  let end = endJobs(server.store, "Complete");
  await works("install", "tiny", chart, "--set", "hook=true", "--timeout", "20s");
  expect(await cluster.kubectl(["-n", namespace, "get", "jobs"])).toBe("");
  end();
  end = endJobs(server.store, "Failed");
  const { code, stderr } = await helm(
    "upgrade",
    "tiny",
    chart,
    "--set",
    "hook=true,image=localhost/web:2",
    "--timeout",
    "20s",
  );
  end();
  expect(code).toBe(1);
  expect(stderr).toContain("pre-upgrade hooks failed");
  expect(await containers()).toContain("localhost/web:1");
  return undefined;
});
