/** The program `keys` against the strict API server, with the Role that the chart gives it and with less. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeKeys } from "@trainyard/install/keys";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type ApiServer, startApiServer } from "../api/start-server.ts";

const group = "rbac.authorization.k8s.io";
const root = mkdtempSync(join(tmpdir(), "trainyard-keys-"));
let server: ApiServer;

const named = (name: string) => ({ name, namespace: "lab" });

beforeAll(async () => {
  server = await startApiServer();
  const { store } = server;
  store.create("namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "lab" } });
  store.create("serviceaccounts", {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: named("ty-keys"),
  });
  store.create("rolebindings", {
    apiVersion: `${group}/v1`,
    kind: "RoleBinding",
    metadata: named("ty-keys"),
    roleRef: { apiGroup: group, kind: "Role", name: "ty-keys" },
    subjects: [{ kind: "ServiceAccount", ...named("ty-keys") }],
  });
  const account = join(root, "var/run/secrets/kubernetes.io/serviceaccount");
  mkdirSync(account, { recursive: true });
  writeFileSync(join(account, "ca.crt"), server.certificate);
  writeFileSync(join(account, "token"), server.token("lab", "ty-keys"));
  writeFileSync(join(account, "namespace"), "lab");
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server?.close();
  rmSync(root, { recursive: true });
});
beforeEach(() => {
  vi.stubEnv("KUBERNETES_SERVICE_HOST", "127.0.0.1");
  vi.stubEnv("KUBERNETES_SERVICE_PORT", String(server.port));
  for (const [plural, name] of [
    ["roles", "ty-keys"],
    ["secrets", "ty-keys"],
  ] as const) {
    if (server.store.get(plural, "lab", name) !== null) server.store.delete(plural, "lab", name);
  }
});

/** Gives the service account these verbs; `get` only on the Secret of its name, as the chart does. */
function permit(...verbs: readonly ("get" | "create")[]): void {
  const rules = verbs.map((verb) => ({
    apiGroups: [""],
    resources: ["secrets"],
    verbs: [verb],
    ...(verb === "get" ? { resourceNames: ["ty-keys"] } : {}),
  }));
  const role = { apiVersion: `${group}/v1`, kind: "Role", metadata: named("ty-keys"), rules };
  server.store.create("roles", role);
}

const made = () => server.store.get("secrets", "lab", "ty-keys");

const run = (...more: readonly string[]): Promise<string> =>
  makeKeys(
    ["--label=app.kubernetes.io/instance=ty", ...more],
    { KUBERNETES_SERVICE_HOST: "127.0.0.1", TRAINYARD_KEYS_SECRET: "ty-keys" },
    root,
  );

test("keys makes a valid Secret with the chart's Role, and leaves it as it is when it runs again", async () => {
  permit("get", "create");
  expect((await Promise.all([run(), run()])).toSorted()).toEqual([
    expect.stringMatching(/^made the Secret "ty-keys" in the namespace "lab"/),
    'the Secret "ty-keys" in the namespace "lab" exists, and stays as it is',
  ]);
  const { metadata, data, type } = made() as ReturnType<typeof made> & { data: object };
  expect(type).toBe("Opaque");
  expect(Object.keys(data)).toContain("postgres-checkpoint-gc");
  expect(await run("--with=run-token-key")).toContain("stays as it is");
  expect(made()?.metadata.resourceVersion).toBe(metadata.resourceVersion);
});

test.each(["get", "create"] as const)(
  "keys names the verb %s if the Role lacks it, with resource and namespace",
  async (verb) => {
    permit(verb === "get" ? "create" : "get");
    await expect(run()).rejects.toThrow(
      `refuses the verb "${verb}" on the resource "secrets" in the namespace "lab" with 403: a Role must give it`,
    );
    expect(made()).toBeNull();
  },
);
