// kubectl is the judge. With TRAINYARD_KUBECONFIG the same tests run on another cluster.
import { notRun } from "@trainyard/testing/needs";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { needPrograms } from "../programs.ts";
import { type Cluster, startCluster } from "./testing/cluster.ts";
import { configMap, deployment } from "./testing/objects.ts";

let cluster: Cluster;
let namespace: string;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster[Symbol.asyncDispose]());
beforeEach(async ({ skip }) => {
  needPrograms(skip);
  namespace ??= await cluster.namespace();
});

const kubectl = (args: readonly string[], input?: unknown): Promise<string> =>
  cluster.kubectl(["-n", namespace, ...args], input);
const fails = async (args: readonly string[], input?: unknown): Promise<string> => {
  const { code, stderr } = await cluster.call("kubectl", ["-n", namespace, ...args], input);
  expect(code).toBe(1);
  return stderr;
};

test("kubectl applies, gets, patches and deletes an object", async () => {
  expect(await kubectl(["apply", "-f", "-"], configMap("a", { one: "1", two: "2" }))).toBe(
    "configmap/a created\n",
  );
  expect(await kubectl(["apply", "-f", "-"], configMap("a", { one: "1", two: "2" }))).toBe(
    "configmap/a unchanged\n",
  );
  await kubectl(["apply", "-f", "-"], configMap("a", { one: "3" }));
  expect(await kubectl(["get", "configmap", "a", "-o", "jsonpath={.data}"])).toBe('{"one":"3"}');
  await kubectl([
    "patch",
    "configmap",
    "a",
    "--type=json",
    "-p",
    '[{"op":"add","path":"/data/x","value":"y"}]',
  ]);
  await kubectl(["patch", "configmap", "a", "--type=merge", "-p", '{"data":{"one":null}}']);
  expect(await kubectl(["get", "configmap", "a", "-o", "jsonpath={.data}"])).toBe('{"x":"y"}');
  expect(await kubectl(["delete", "configmap", "a"])).toBe('configmap "a" deleted\n');
  expect(await fails(["get", "configmap", "a"])).toBe(
    'Error from server (NotFound): configmaps "a" not found\n',
  );
});

test("a server-side apply conflicts with another manager's field, and names both", async () => {
  await kubectl(
    ["apply", "--server-side", "--field-manager=one", "-f", "-"],
    deployment("shared", "a:1"),
  );
  const other = deployment("shared", "a:2");
  const said = await fails(["apply", "--server-side", "--field-manager=two", "-f", "-"], other);
  expect(said).toContain(
    'Apply failed with 1 conflict: conflict with "one": .spec.template.spec.containers[name="main"].image',
  );
  await kubectl(
    ["apply", "--server-side", "--field-manager=two", "--force-conflicts", "-f", "-"],
    other,
  );
  const image = [
    "get",
    "deployment",
    "shared",
    "-o",
    "jsonpath={.spec.template.spec.containers[0].image}",
  ];
  expect(await kubectl(image)).toBe("a:2");
});

test("a field goes when its only manager no longer applies it", async () => {
  const apply = ["apply", "--server-side", "--field-manager=one", "-f", "-"];
  const first = deployment("owned", "a:1");
  first.spec.template.spec.containers.push({ name: "side", image: "b:1" });
  first.spec.replicas = 3;
  await kubectl(apply, first);
  await kubectl(apply, deployment("owned", "a:1"));
  const read = [
    "get",
    "deployment",
    "owned",
    "-o",
    "jsonpath={.spec.replicas} {.spec.template.spec.containers[*].name}",
  ];
  expect(await kubectl(read)).toBe("1 main");
});

test("kubectl's tables have the columns of the kind", async () => {
  await kubectl(["apply", "-f", "-"], deployment("table", "nginx:1"));
  const wide = await kubectl(["get", "deployment", "table", "-o", "wide"]);
  expect(wide.split("\n")[0]?.split(/\s{2,}/)).toEqual([
    "NAME",
    "READY",
    "UP-TO-DATE",
    "AVAILABLE",
    "AGE",
    "CONTAINERS",
    "IMAGES",
    "SELECTOR",
  ]);
  expect(wide).toMatch(/^table +0\/1 .* main +nginx:1 +app=table$/m);
});

test("unknown fields and values of another type are refused by name", async () => {
  const wrong = deployment("wrong", "a:1");
  wrong.spec.replica = 3;
  expect(await fails(["apply", "-f", "-"], wrong)).toContain('unknown field "spec.replica"');
  expect(await fails(["apply", "--server-side", "-f", "-"], wrong)).toContain(
    ".spec.replica: field not declared in schema",
  );
  const number = deployment("wrong", "a:1");
  number.spec.template.spec.containers[0].env[0].value = 1;
  expect(await fails(["create", "-f", "-"], number)).toContain(
    "json: cannot unmarshal number into Go struct field EnvVar.spec.template.spec.containers.env.value of type string",
  );
});

test("kubectl waits for a condition", async () => {
  const job = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "waited" } };
  const containers = [{ name: "main", image: "a:1" }];
  const template = { spec: { restartPolicy: "Never", containers } };
  // A suspended job starts no pods on a real cluster either.
  await kubectl(["create", "-f", "-"], { ...job, spec: { suspend: true, template } });
  const waits = kubectl([
    "wait",
    "--for=jsonpath={.metadata.labels.done}=yes",
    "job/waited",
    "--timeout=20s",
  ]);
  await kubectl(["label", "job", "waited", "done=yes"]);
  expect(await waits).toBe("job.batch/waited condition met\n");
});

test("kubectl follows a rollout, and sees each change", async ({ skip }) => {
  const { server } = cluster;
  if (server === null)
    return notRun(skip, "the strict server: a real cluster would have to pull the image");
  await kubectl(["create", "-f", "-"], deployment("rolled", "a:1"));
  const rollout = kubectl(["rollout", "status", "deployment/rolled", "--timeout=20s"]);
  const follows = kubectl([
    "get",
    "deployment",
    "rolled",
    "-w",
    "--request-timeout=2s",
    "--no-headers",
  ]);
  for (const ready of [0, 1]) {
    const object = server.store.get("deployments", namespace, "rolled");
    if (object === null) throw new Error("no deployment");
    const counts = {
      replicas: 1,
      updatedReplicas: 1,
      readyReplicas: ready,
      availableReplicas: ready,
    };
    server.store.updateStatus("deployments", {
      ...object,
      status: { observedGeneration: 1, ...counts },
    });
  }
  expect(await rollout).toContain('deployment "rolled" successfully rolled out');
  expect(await follows).toMatch(/rolled +1\/1 +1 +1/);
  return undefined;
});

test("an update of an old version is refused", async () => {
  await kubectl(["create", "-f", "-"], configMap("version", { a: "1" }));
  const old = await kubectl(["get", "configmap", "version", "-o", "json"]);
  await kubectl(["patch", "configmap", "version", "-p", '{"data":{"a":"2"}}']);
  expect(await fails(["replace", "-f", "-"], old)).toContain(
    "the object has been modified; please apply your changes",
  );
});

test("a dry run answers the object and stores nothing", async () => {
  const said = await kubectl(
    ["apply", "--server-side", "--dry-run=server", "-f", "-"],
    configMap("dry", {}),
  );
  expect(said).toBe("configmap/dry serverside-applied (server dry run)\n");
  expect(await kubectl(["get", "configmap", "dry", "--ignore-not-found"])).toBe("");
});

test("a list comes in pieces", async () => {
  for (const name of ["p1", "p2", "p3"]) await kubectl(["create", "configmap", name]);
  const said = await kubectl(["get", "configmaps", "--chunk-size=1", "-o", "name"]);
  expect(said.split("\n")).toEqual(
    expect.arrayContaining(["configmap/p1", "configmap/p2", "configmap/p3"]),
  );
});

test("kubectl's typed commands, which send protobuf, are understood", async () => {
  await kubectl(["create", "secret", "generic", "typed", "--from-literal=key=value"]);
  expect(await kubectl(["get", "secret", "typed", "-o", "jsonpath={.data.key}"])).toBe("dmFsdWU=");
  await kubectl(["create", "serviceaccount", "typed"]);
  expect(await kubectl(["create", "token", "typed"])).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n?$/);
  await kubectl(["create", "service", "clusterip", "typed", "--tcp=80:http"]);
  expect(
    await kubectl(["get", "service", "typed", "-o", "jsonpath={.spec.ports[0].targetPort}"]),
  ).toBe("http");
});

test("an account may do what its role says, and the refusal names what it may not do", async () => {
  await kubectl(["create", "serviceaccount", "reader"]);
  await kubectl(["create", "role", "reader", "--verb=get,list", "--resource=configmaps"]);
  await kubectl([
    "create",
    "rolebinding",
    "reader",
    "--role=reader",
    `--serviceaccount=${namespace}:reader`,
  ]);
  const as = `--as=system:serviceaccount:${namespace}:reader`;
  expect(await kubectl(["auth", "can-i", "list", "configmaps", as])).toBe("yes\n");
  await kubectl(["get", "configmaps", as]);
  expect(await fails(["get", "deployments", as])).toBe(
    `Error from server (Forbidden): deployments.apps is forbidden: User "system:serviceaccount:${namespace}:reader" cannot list resource "deployments" in API group "apps" in the namespace "${namespace}"\n`,
  );
});

test("dependents go with their owner, and stay when they are orphaned", async () => {
  const owned = async (owner: string, name: string): Promise<void> => {
    const uid = await kubectl(["get", "configmap", owner, "-o", "jsonpath={.metadata.uid}"]);
    const object = configMap(name, {});
    object.metadata.ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: owner, uid }];
    await kubectl(["create", "-f", "-"], object);
  };
  for (const owner of ["owner", "orphaned"]) await kubectl(["create", "configmap", owner]);
  await owned("owner", "dependent");
  await owned("orphaned", "left");
  await kubectl(["delete", "configmap", "owner", "--cascade=foreground"]);
  await kubectl(["wait", "--for=delete", "configmap/dependent", "--timeout=20s"]);
  await kubectl(["delete", "configmap", "orphaned", "--cascade=orphan"]);
  const references = ["get", "configmap", "left", "-o", "jsonpath={.metadata.ownerReferences}"];
  await expect.poll(() => kubectl(references)).toBe("");
});

test("a namespace is deleted with what it contains", async () => {
  const other = await cluster.namespace();
  await cluster.kubectl(["-n", other, "create", "configmap", "inside"]);
  await cluster.kubectl(["delete", "namespace", other]);
  expect(await cluster.kubectl(["get", "namespace", other, "--ignore-not-found"])).toBe("");
});
