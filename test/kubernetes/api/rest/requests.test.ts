// The strict server's answers to requests of any client. They need no program, and no real cluster.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Fields, KubeObject } from "../object-store.ts";
import { type ApiServer, startApiServer } from "../start-server.ts";
import { configMap, deployment } from "../testing/objects.ts";
import { Client } from "../testing/requests.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";

let server: ApiServer;
let client: Client;
beforeAll(async () => {
  const logs = {
    async *read(_pod: KubeObject, container: string) {
      yield `${container} says hello\n`;
    },
  };
  server = await startApiServer({ logs });
  client = new Client(server.kubeconfig);
});
afterAll(() => server.close());

const inDefault = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, namespace: "default" },
});
const applies = (name: string, manager: string, body: unknown, more = "") =>
  client.send("PATCH", `${CONFIG_MAPS}/${name}?fieldManager=${manager}${more}`, {
    body,
    headers: { "content-type": "application/apply-patch+yaml" },
  });

test("both discoveries list the same resources", async () => {
  const accept =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
  const aggregated = await client.send("GET", "/apis", { headers: { accept } });
  expect(aggregated.headers["content-type"]).toContain("as=APIGroupDiscoveryList");
  for (const { metadata, versions } of aggregated.body.items as Fields[]) {
    const plain = await client.send("GET", `/apis/${metadata.name}/v1`);
    const names = (plain.body.resources as Fields[])
      .map(({ name }) => name)
      .filter((name) => !name.includes("/"));
    expect(names).toEqual((versions[0].resources as Fields[]).map(({ resource }) => resource));
  }
});

test("a request without a valid token is refused", async () => {
  expect((await client.send("GET", "/api/v1/pods", { token: "wrong" })).code).toBe(401);
  const anonymous = await client.send("GET", "/api/v1/pods", { token: null });
  expect(anonymous.body.message).toBe(
    'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" at the cluster scope',
  );
  expect((await client.send("GET", "/version", { token: null })).code).toBe(200);
});

test("unknown paths, methods, media types and selectors have their codes", async () => {
  expect((await client.send("GET", "/api/v1/nothing")).code).toBe(404);
  expect((await client.send("POST", "/api/v1/pods", { body: {} })).code).toBe(405);
  const accept = "application/vnd.kubernetes.protobuf";
  expect((await client.send("GET", CONFIG_MAPS, { headers: { accept } })).code).toBe(406);
  expect((await client.send("PATCH", `${CONFIG_MAPS}/a`, { body: {} })).code).toBe(415);
  const selected = await client.send("GET", `${CONFIG_MAPS}?fieldSelector=data.a=1`);
  expect(selected.body).toMatchObject({ code: 400, message: "field label not supported: data.a" });
});

test("fields that are twice or unknown are refused, warned about or ignored, as the request asks", async () => {
  const body =
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"twice"},"data":{"a":"1","a":"2"},"datas":{}}';
  const send = (mode: string) => client.send("POST", `${CONFIG_MAPS}?dryRun=All${mode}`, { body });
  expect((await send("&fieldValidation=Strict")).body.message).toBe(
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "datas", duplicate field "data.a"',
  );
  expect((await send("")).headers.warning).toContain('unknown field \\"datas\\"');
  expect((await send("&fieldValidation=Ignore")).headers.warning).toBeUndefined();
});

test("items of a list do not repeat their kind, and come in pieces", async () => {
  for (const name of ["l1", "l2", "l3"]) {
    const labels = { list: "yes" };
    server.store.create("configmaps", {
      ...configMap(name, {}),
      metadata: { name, namespace: "default", labels },
    });
  }
  const first = await client.send("GET", `${CONFIG_MAPS}?labelSelector=list%20in%20(yes)&limit=2`);
  expect(first.body.items.map(({ kind, metadata }: Fields) => [kind, metadata.name])).toEqual([
    [undefined, "l1"],
    [undefined, "l2"],
  ]);
  const rest = await client.send(
    "GET",
    `${CONFIG_MAPS}?labelSelector=list&limit=2&continue=${first.body.metadata.continue}`,
  );
  expect(rest.body.items.map(({ metadata }: Fields) => metadata.name)).toEqual(["l3"]);
});

test("a watch delivers what a selector begins and ceases to match", async () => {
  const { resourceVersion } = (await client.send("GET", CONFIG_MAPS)).body.metadata;
  const watch = client.watch(
    `${CONFIG_MAPS}?watch=true&labelSelector=on=yes&resourceVersion=${resourceVersion}`,
  );
  const object = server.store.create("configmaps", inDefault(configMap("watched", {})));
  const label = (value: string) => {
    const { metadata } = server.store.get("configmaps", "default", "watched") ?? object;
    server.store.update("configmaps", {
      ...object,
      metadata: { ...metadata, labels: { on: value } },
    });
  };
  for (const value of ["yes", "no"]) label(value);
  await expect.poll(() => watch.events.map(({ type }) => type)).toEqual(["ADDED", "DELETED"]);
  watch.close();
});

test("a watch with initial events says where they end, and one from a forgotten version ends with 410", async () => {
  const initial = client.watch(
    `${CONFIG_MAPS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
  );
  await expect
    .poll(() => initial.events.at(-1)?.object.metadata.annotations)
    .toEqual({ "k8s.io/initial-events-end": "true" });
  initial.close();
  server.store.create("configmaps", inDefault(configMap("forgotten", {})));
  server.store.compact();
  const old = client.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=2`);
  await old.ended;
  expect(old.events).toMatchObject([{ type: "ERROR", object: { code: 410, reason: "Expired" } }]);
});

test("a delete with the identity of another object is refused", async () => {
  server.store.create("configmaps", inDefault(configMap("kept", {})));
  const body = { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid: "another" } };
  expect((await client.send("DELETE", `${CONFIG_MAPS}/kept`, { body })).code).toBe(409);
  expect((await client.send("DELETE", `${CONFIG_MAPS}/kept?dryRun=All`)).body.status).toBe(
    "Success",
  );
  expect((await client.send("DELETE", `${CONFIG_MAPS}/kept`)).body).toMatchObject({
    details: { kind: "configmaps" },
  });
  expect((await client.send("DELETE", `${CONFIG_MAPS}/kept`)).code).toBe(404);
});

test("an apply needs a manager, and managers are cleared by an empty entry", async () => {
  const body = configMap("managed", { a: "1" });
  expect(
    (
      await client.send("PATCH", `${CONFIG_MAPS}/managed`, {
        body,
        headers: { "content-type": "application/apply-patch+yaml" },
      })
    ).body.message,
  ).toContain("fieldManager: Required value");
  const { metadata } = (await applies("managed", "one", body)).body;
  expect(metadata.managedFields).toMatchObject([
    { manager: "one", operation: "Apply", fieldsV1: { "f:data": { "f:a": {} } } },
  ]);
  const patch = [{ op: "replace", path: "/metadata/managedFields", value: [{}] }];
  const headers = { "content-type": "application/json-patch+json", "user-agent": "" };
  const cleared = await client.send("PATCH", `${CONFIG_MAPS}/managed`, { body: patch, headers });
  expect(cleared.body.metadata.managedFields).toBeUndefined();
});

test("a conflict names each manager and field, as causes too", async () => {
  await applies("contended", "one", configMap("contended", { a: "1", b: "1" }));
  const { code, body } = await applies(
    "contended",
    "two",
    configMap("contended", { a: "2", b: "2" }),
  );
  expect(code).toBe(409);
  expect(body.message).toBe(
    'Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\n- .data.b',
  );
  expect(body.details.causes[0]).toEqual({
    reason: "FieldManagerConflict",
    message: 'conflict with "one"',
    field: ".data.a",
  });
});

test("the status is a resource of its own, with managers of its own", async () => {
  await client.send("POST", DEPLOYMENTS, {
    body: { ...deployment("status", "a:1"), status: { replicas: 9 } },
  });
  const path = `${DEPLOYMENTS}/status`;
  expect((await client.send("GET", path)).body.status).toEqual({});
  const headers = { "content-type": "application/merge-patch+json", "user-agent": "controller/1" };
  const body = { status: { replicas: 1 }, spec: { replicas: 7 } };
  const patched = (await client.send("PATCH", `${path}/status`, { body, headers })).body;
  expect(patched).toMatchObject({
    spec: { replicas: 1 },
    status: { replicas: 1 },
    metadata: { generation: 1 },
  });
  expect(patched.metadata.managedFields.at(-1)).toMatchObject({
    manager: "controller",
    subresource: "status",
  });
});

test("a user may grant only what he holds", async () => {
  const rules = [
    { apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"], verbs: ["create"] },
  ];
  const rbac = "rbac.authorization.k8s.io/v1";
  server.store.create("clusterroles", {
    apiVersion: rbac,
    kind: "ClusterRole",
    metadata: { name: "granter" },
    rules,
  });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "granter" };
  const subjects = [{ kind: "User", name: "granter" }];
  server.store.create("clusterrolebindings", {
    apiVersion: rbac,
    kind: "ClusterRoleBinding",
    metadata: { name: "granter" },
    roleRef,
    subjects,
  });
  const granter = new Client(await server.kubeconfigFor({ name: "granter", groups: [] }));
  const grant = (resource: string, group: string) =>
    granter.send("POST", `/apis/${rbac}/namespaces/default/roles`, {
      body: {
        apiVersion: rbac,
        kind: "Role",
        metadata: { name: resource },
        rules: [{ apiGroups: [group], resources: [resource], verbs: ["create"] }],
      },
    });
  expect((await grant("roles", "rbac.authorization.k8s.io")).code).toBe(201);
  const { code, body } = await grant("secrets", "");
  expect(code).toBe(403);
  expect(body.message).toContain(
    'is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"]',
  );
});

test("a token ends with its service account", async () => {
  const account = {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "short", namespace: "default" },
  };
  server.store.create("serviceaccounts", account);
  const token = server.token("default", "short");
  expect((await client.send("GET", CONFIG_MAPS, { token })).code).toBe(403);
  server.store.delete("serviceaccounts", "default", "short");
  expect((await client.send("GET", CONFIG_MAPS, { token })).code).toBe(401);
});

test("a namespace refuses pods that violate its standard, and warns of their templates", async () => {
  const namespace = (name: string, mode: string) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels: { [`pod-security.kubernetes.io/${mode}`]: "restricted" } },
  });
  await client.send("POST", "/api/v1/namespaces", { body: namespace("enforced", "enforce") });
  await client.send("POST", "/api/v1/namespaces", { body: namespace("warned", "warn") });
  await expect
    .poll(() => server.store.get("serviceaccounts", "enforced", "default"))
    .not.toBeNull();
  const pod = (securityContext: Fields): Fields => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: { containers: [{ name: "main", image: "a:1", securityContext }] },
  });
  const path = "/api/v1/namespaces/enforced/pods?dryRun=All";
  const refused = await client.send("POST", path, { body: pod({}) });
  expect(refused.body.message).toBe(
    'pods "p" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "main" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "main" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  );
  const securityContext = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    runAsNonRoot: true,
    seccompProfile: { type: "RuntimeDefault" },
  };
  expect((await client.send("POST", path, { body: pod(securityContext) })).code).toBe(201);
  const body = deployment("warned", "a:1");
  const warned = await client.send("POST", "/apis/apps/v1/namespaces/warned/deployments", { body });
  expect(warned.headers.warning).toContain('would violate PodSecurity \\"restricted:latest\\"');
});

test("the audit tells who asked for what, and whether he might", async () => {
  const token = server.token("kube-system", "default");
  await client.send("GET", CONFIG_MAPS, { token });
  expect(server.audit.at(-1)).toEqual({
    user: "system:serviceaccount:kube-system:default",
    verb: "list",
    group: "",
    resource: "configmaps",
    subresource: "",
    namespace: "default",
    name: null,
    allowed: false,
  });
});

test("a pod with a node ends with its grace period, is read for its log, and is evicted within its budget", async () => {
  const labels = { app: "pod" };
  const pod = server.store.create("pods", {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "pod", namespace: "default", labels },
    spec: { containers: [{ name: "main", image: "a:1" }], terminationGracePeriodSeconds: 7 },
  });
  expect(pod.spec.volumes).toMatchObject([
    { projected: { sources: [{ serviceAccountToken: { path: "token" } }, {}, {}] } },
  ]);
  const path = "/api/v1/namespaces/default/pods/pod";
  expect((await client.send("GET", `${path}/log`)).code).toBe(400);
  server.store.update("pods", { ...pod, spec: { ...pod.spec, nodeName: "node" } });
  expect((await client.send("GET", `${path}/log`)).body.text).toBe("main says hello\n");
  const budget = {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "pod", namespace: "default" },
  };
  server.store.create("poddisruptionbudgets", {
    ...budget,
    spec: { minAvailable: 1, selector: { matchLabels: labels } },
  });
  const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "pod" } };
  expect((await client.send("POST", `${path}/eviction`, { body })).code).toBe(429);
  const deleted = await client.send("DELETE", path);
  expect(deleted.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 7 });
  expect(server.store.get("pods", "default", "pod")).not.toBeNull();
  await client.send("DELETE", `${path}?gracePeriodSeconds=0`);
  expect(server.store.get("pods", "default", "pod")).toBeNull();
});
