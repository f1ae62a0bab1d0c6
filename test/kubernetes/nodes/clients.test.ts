/** kubectl and helm wait for pods that run: what they read of statuses is what they expect. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { needPrograms } from "../programs.ts";
import { eventually } from "../../world/eventually.ts";
import { run } from "../api/testing/cluster.ts";
import { type PodWorld, sharedWorld } from "./testing/pod-world.ts";
import { writeWebChart } from "./testing/web-chart.ts";

const world = sharedWorld();
const chart = mkdtempSync(join(tmpdir(), "ty-web-chart-"));
afterAll(() => rmSync(chart, { recursive: true }));

type Programs = {
  readonly pods: PodWorld;
  readonly helm: (...args: readonly string[]) => Promise<string>;
  readonly kubectl: (...args: readonly string[]) => Promise<string>;
};

function programs(skip: (note: string) => never): Programs {
  const pods = world(skip);
  needPrograms(skip);
  const call = async (program: string, args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(program, args, pods.cluster.server.kubeconfig);
    if (code !== 0) throw new Error(`${program} ${args.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  };
  return {
    pods,
    helm: async (...args) => await call("helm", args),
    kubectl: async (...args) => await call("kubectl", args),
  };
}

test("helm waits for pods, restarts only those that changed, tests, rolls back and removes all", async ({
  skip,
}) => {
  const { pods, helm, kubectl } = programs(skip);
  writeWebChart(chart);
  const wait = ["--wait", "--timeout", "60s"];
  expect(await helm("install", "one", chart, ...wait)).toContain("STATUS: deployed");
  const uids = (): Record<string, string | undefined> =>
    Object.fromEntries(
      pods.objects
        .list("pods", "default")
        .filter(
          ({ metadata, status }) => !metadata.deletionTimestamp && status?.phase === "Running",
        )
        .map(({ metadata }) => [metadata.labels?.["app"] ?? "", metadata.uid]),
    );
  const first = uids();
  expect(Object.keys(first).sort()).toEqual(["one-db", "one-web"]);
  expect(await helm("test", "one", "--logs", "--timeout", "60s")).toContain("answered: 200");
  await helm("upgrade", "one", chart, "--set", "version=2", ...wait);
  const second = uids();
  expect(second["one-db"]).toBe(first["one-db"]);
  expect(second["one-web"]).not.toBe(first["one-web"]);
  await expect(helm("upgrade", "one", chart, "--set", "hookCode=3", ...wait)).rejects.toThrow(
    "one-hook not ready. status: Failed, message: Job Failed. failed: 1/1",
  );
  expect(uids()).toEqual(second);
  await helm("rollback", "one", "1", ...wait);
  const version = "jsonpath={.spec.template.spec.containers[0].env[0].value}";
  expect(await kubectl("get", "deployment", "one-web", "-o", version)).toBe("1");
  await helm("uninstall", "one", "--cascade", "foreground", ...wait);
  // Jobs of a failed hook and claims of a StatefulSet stay, as in any cluster.
  const left = await kubectl("get", "all,pvc,secrets", "-o", "name", "--ignore-not-found");
  expect(
    left.split("\n").filter((name) => !/service\/kubernetes|job|one-hook|one-test/.test(name)),
  ).toEqual(["persistentvolumeclaim/data-one-db-0", ""]);
});

test("kubectl follows a rollout, undoes it, waits, scales, and reads logs", async ({ skip }) => {
  const { kubectl } = programs(skip);
  const image = ["--image", "localhost/trainyard-test:1"];
  const sleeps = ["--", "sh", "-c", "trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done"];
  await kubectl("create", "deployment", "web", ...image, "--replicas=2", ...sleeps);
  const status = () => kubectl("rollout", "status", "deployment/web", "--timeout=60s");
  expect(await status()).toContain('deployment "web" successfully rolled out');
  await kubectl("set", "env", "deployment/web", "A=1");
  expect(await status()).toContain("successfully rolled out");
  await kubectl("rollout", "undo", "deployment/web");
  expect(await status()).toContain("successfully rolled out");
  expect(await kubectl("rollout", "history", "deployment/web")).toMatch(/^2 .*\n3 /m);
  await kubectl("wait", "--for=condition=Available", "deployment/web", "--timeout=60s");
  // A rollout has ended while pods of the old template still end.
  await eventually("the old pods are gone", async () => {
    const names = await kubectl("get", "pods", "-l", "app=web", "-o", "name");
    return names.trim().split("\n").length === 2;
  });
  await kubectl("wait", "--for=condition=Ready", "pod", "-l", "app=web", "--timeout=60s");
  expect(await kubectl("logs", "deployment/web")).toBe("up\n");
  const columns = await kubectl("get", "pods", "-l", "app=web", "--no-headers");
  expect(
    columns
      .trim()
      .split("\n")
      .map((line) => line.split(/ +/).slice(1, 4)),
  ).toEqual([
    ["1/1", "Running", "0"],
    ["1/1", "Running", "0"],
  ]);
  expect(await kubectl("describe", "pod", "-l", "app=web")).toContain("Successfully assigned");
  await kubectl("scale", "deployment/web", "--replicas=0");
  await kubectl("wait", "--for=delete", "pod", "-l", "app=web", "--timeout=60s");
  await kubectl("delete", "deployment", "web");
});

test("kubectl waits for Jobs that end and says that a rollout is stuck", async ({ skip }) => {
  const { kubectl } = programs(skip);
  const image = ["--image", "localhost/trainyard-test:1"];
  await kubectl("create", "job", "ok", ...image, "--", "sh", "-c", "echo done");
  await kubectl("wait", "--for=condition=Complete", "job/ok", "--timeout=60s");
  expect(await kubectl("logs", "job/ok")).toBe("done\n");
  await kubectl("create", "deployment", "stuck", "--image", "localhost/none:1");
  const patch = '{"spec":{"progressDeadlineSeconds":1}}';
  await kubectl("patch", "deployment", "stuck", "-p", patch);
  await expect(kubectl("rollout", "status", "deployment/stuck", "--timeout=60s")).rejects.toThrow(
    "exceeded its progress deadline",
  );
  expect(await kubectl("get", "pods", "-l", "app=stuck", "--no-headers")).toMatch(
    /0\/1 +(ErrImagePull|ImagePullBackOff) /,
  );
  await kubectl("delete", "deployment,job", "--all");
});
