/** The chart on an API server: what helm does with it from its install to its removal, without nodes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { needPrograms } from "../programs.ts";
import { type Called, type Cluster, run, startCluster } from "../api/testing/cluster.ts";
import { endJobs } from "../api/testing/jobs.ts";
import type { KubeObject } from "../api/object-store.ts";
import { cases, required } from "./cases.ts";
import { chart, manifestsOf, release, template } from "./helm.ts";
import { ofKind, podsOf } from "./manifests.ts";

let cluster: Cluster;
let namespace: string;
beforeAll(async () => {
  cluster = await startCluster({ serviceMonitors: true });
});
afterAll(() => cluster[Symbol.asyncDispose]());
beforeEach(async ({ skip }) => {
  needPrograms(skip);
  if (cluster.server === null) skip("a real cluster would start the pods");
  namespace = await cluster.namespace();
});

const values = { ...required, agents: { a: { slots: 1 } } };
const helm = (args: readonly string[], given: object = values): Promise<Called> =>
  cluster.call("helm", ["-n", namespace, ...args], given);
async function works(args: readonly string[], given?: object): Promise<string> {
  const { code, stdout, stderr } = await helm(args, given);
  expect(code, stderr).toBe(0);
  return stdout;
}
const install = ["install", release, chart, "--values", "-", "--timeout", "20s"];
const upgrade = ["upgrade", release, chart, "--values", "-", "--timeout", "20s"];
const store = () => {
  const { server } = cluster;
  if (server === null) throw new Error("this test needs a server of its own");
  return server.store;
};
const objects = (plural: string): readonly KubeObject[] => store().list(plural, namespace);

test.for(Object.entries(cases))(
  "an API server takes every object of the chart with %s, and refuses no field",
  async ([, given]) => {
    const text = await template(given, namespace);
    const said = await cluster.kubectl(
      ["apply", "--server-side", "--validate=strict", "-f", "-"],
      text,
    );
    expect(said.trim().split("\n").length).toBe(manifestsOf(text).length);
  },
);

test("Pod Security `restricted` admits every pod of the chart, those of agents included", async () => {
  const label = "pod-security.kubernetes.io/enforce=restricted";
  await cluster.kubectl(["label", "namespace", namespace, label]);
  const everything = cases["everything once"] ?? { values };
  const pods = podsOf(manifestsOf(await template(everything, namespace))).map(
    ({ component, labels, spec }) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: component, namespace, labels },
      // The claim of an agent's folder becomes a volume of the pod.
      spec: {
        ...spec,
        serviceAccountName: "default",
        volumes: [...spec.volumes, { name: "state", emptyDir: {} }],
      },
    }),
  );
  const text = pods.map((pod) => JSON.stringify(pod)).join("\n---\n");
  const said = await cluster.kubectl(["apply", "--server-side", "-f", "-"], text);
  expect(said.trim().split("\n").length).toBe(15);
});

test("a release is installed, one service's tag changed, stopped, rolled back and removed, and nothing is left", async () => {
  const end = endJobs(store(), "Complete");
  expect(await works(install)).toContain("The first token, which may do everything");
  const generations = () =>
    Object.fromEntries(
      [...objects("deployments"), ...objects("statefulsets")].map(({ metadata }) => [
        metadata.name,
        metadata.generation,
      ]),
    );
  const first = generations();
  await works([...upgrade, "--set", "services.gateway.image.tag=0.1.1"]);
  const before = first["ty-gateway"] ?? 0;
  expect(generations()).toEqual({ ...first, "ty-gateway": before + 1 });
  const replicas = () => new Set(objects("deployments").map(({ spec }) => spec.replicas as number));
  await works([...upgrade, "--set", "stopped=true"]);
  expect(replicas()).toEqual(new Set([0]));
  expect(objects("statefulsets").map(({ spec }) => spec.replicas as number)).toEqual([1]);
  await works(["rollback", release, "1"]);
  expect(replicas()).toEqual(new Set([1]));
  const [gateway] = objects("deployments").filter(({ metadata }) => metadata.name === "ty-gateway");
  expect(gateway?.spec.template.spec.containers[0].image).toBe("localhost/trainyard/gateway:0.1.0");
  await works(["uninstall", release]);
  end();
  const all = "all,ingress,networkpolicy,pdb,job,secret,configmap,sa,role,rolebinding,pvc";
  const left = await cluster.kubectl(["-n", namespace, "get", all, "-o", "name"]);
  expect(left.trim().split("\n")).toEqual(["configmap/kube-root-ca.crt", "serviceaccount/default"]);
});

test("a migration that refuses leaves the release as it is, and its Job to read", async () => {
  let end = endJobs(store(), "Complete");
  await works(install);
  end();
  end = endJobs(store(), "Failed");
  const { code, stderr } = await helm([
    ...upgrade,
    "--set",
    "image.tag=0.2.0,keys.existingSecret=k,postgres.existingSecret=p",
  ]);
  end();
  expect(code).toBe(1);
  expect(stderr).toContain("pre-upgrade hooks failed");
  expect(objects("jobs").map(({ metadata }) => metadata.name)).toEqual(["ty-migrate"]);
  const images = objects("deployments").map(
    ({ spec }) => spec.template.spec.containers[0].image as string,
  );
  expect(images.every((image) => image.endsWith(":0.1.0"))).toBe(true);
  // The next attempt replaces the Job.
  end = endJobs(store(), "Complete");
  await works(upgrade);
  end();
  expect(objects("jobs")).toEqual([]);
});

test("the objects of try-with-kind are valid, and its values install the chart", async () => {
  const script = readFileSync(join(chart, "../try-with-kind"), "utf8");
  const [, text = ""] = /<< 'END'\n(.*?)\nEND\n/s.exec(script) ?? [];
  await cluster.kubectl(
    ["apply", "--server-side", "--validate=strict", "-n", namespace, "-f", "-"],
    text,
  );
  const set = [...script.matchAll(/--set (\S+)/g)].flatMap(([, value = ""]) => ["--set", value]);
  expect(set.length).toBeGreaterThan(10);
  const end = endJobs(store(), "Complete");
  const { code, stderr } = await cluster.call("helm", [
    ...["-n", namespace, "install", release, chart, "--timeout", "20s"],
    ...set,
  ]);
  end();
  expect(code, stderr).toBe(0);
});

test("the account of the Job of keys may create secrets and get its own, and what else it tries is refused by name", async () => {
  const { server } = cluster;
  const rights = manifestsOf(await template({ values }, namespace)).filter(({ kind }) =>
    ["ServiceAccount", "Role", "RoleBinding"].includes(kind),
  );
  const text = rights.map((one) => JSON.stringify(one)).join("\n---\n");
  await cluster.kubectl(["apply", "--server-side", "-f", "-"], text);
  const account = { namespace, serviceAccount: "ty-keys" };
  const kubeconfig = (await server?.kubeconfigFor(account)) ?? "";
  const kubectl = (...args: readonly string[]) =>
    run("kubectl", ["-n", namespace, ...args], kubeconfig);
  const create = await kubectl("create", "secret", "generic", "ty-keys", "--from-literal=a=b");
  expect(create.stderr + create.stdout).toContain("secret/ty-keys created");
  expect(await kubectl("get", "secret", "ty-keys", "-o", "name")).toMatchObject({ code: 0 });
  const others = [
    ["get", "secret", "postgres-admin"],
    ["get", "secrets"],
    ["delete", "secret", "ty-keys"],
    ["patch", "secret", "ty-keys", "-p", '{"stringData":{"a":"c"}}'],
    ["create", "configmap", "a"],
  ];
  for (const args of others) {
    const { code, stderr } = await kubectl(...args);
    expect([args.join(" "), code]).toEqual([args.join(" "), 1]);
    expect(stderr).toContain(
      `User "system:serviceaccount:${namespace}:ty-keys" cannot ${args[0] === "get" && args.length === 2 ? "list" : (args[0] ?? "")} resource`,
    );
  }
  expect(ofKind(rights, "Role").length).toBe(1);
});
