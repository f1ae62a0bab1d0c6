import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { services } from "@trainyard/kernel/services";
import { freePort } from "@trainyard/testing";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { makeKeys } from "./program.ts";

type Secret = {
  readonly metadata: {
    readonly name: string;
    readonly labels: object;
    readonly annotations: object;
  };
  readonly stringData: Readonly<Record<string, string>>;
};

/** The pod's folder of its service account, and the server's certificate. */
const root = mkdtempSync(join(tmpdir(), "trainyard-keys-"));
const account = join(root, "var/run/secrets/kubernetes.io/serviceaccount");
const place = 'the Secret "ty-keys" in the namespace "lab"';
const exists = `${place} exists, and stays as it is`;
const allKeys = ["run-token-key", "first-token", ...services.map(({ name }) => `postgres-${name}`)];

/** A server that has Secrets, and refuses what `refusing` says. It is no API server: test/kubernetes has one. */
let server: Server;
let stored = new Map<string, Secret>();
let asked: string[] = [];
let refusing: { readonly code: number; readonly message: string } | null = null;
let hidden = false;

beforeAll(async () => {
  mkdirSync(account, { recursive: true });
  const parameters =
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test";
  const files = ["-keyout", join(root, "key.pem"), "-out", join(account, "ca.crt")];
  const names = ["-addext", "subjectAltName=IP:127.0.0.1"];
  execFileSync("openssl", [...parameters.split(" "), ...files, ...names], { stdio: "ignore" });
  writeFileSync(join(account, "token"), "account-token");
  writeFileSync(join(account, "namespace"), "lab");
  server = createServer({
    key: readFileSync(join(root, "key.pem")),
    cert: readFileSync(join(account, "ca.crt")),
  });
  server.on("request", (request, response) => {
    const answer = (code: number, body: object): void => {
      response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    const status = (code: number, message: string): void =>
      answer(code, { apiVersion: "v1", kind: "Status", status: "Failure", code, message });
    asked.push(`${request.method} ${request.url}`);
    if (request.headers.authorization !== "Bearer account-token")
      return status(401, "Unauthorized");
    if (refusing !== null) return status(refusing.code, refusing.message);
    const name = request.url?.replace("/api/v1/namespaces/lab/secrets", "").slice(1) ?? "";
    if (request.method === "GET") {
      const found = hidden ? undefined : stored.get(name);
      if (hidden) hidden = false;
      if (found === undefined) return status(404, `secrets "${name}" not found`);
      const { stringData, ...rest } = found;
      const data = Object.entries(stringData).map(([key, value]) => [key, btoa(value)] as const);
      return answer(200, { ...rest, data: Object.fromEntries(data) });
    }
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const secret = JSON.parse(text) as Secret;
      if (stored.has(secret.metadata.name)) return status(409, "already exists");
      stored.set(secret.metadata.name, secret);
      answer(201, secret);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
  rmSync(root, { recursive: true });
});

beforeEach(() => {
  stored = new Map();
  asked = [];
  refusing = null;
  vi.stubEnv("KUBERNETES_SERVICE_HOST", "127.0.0.1");
  vi.stubEnv("KUBERNETES_SERVICE_PORT", String((server.address() as AddressInfo).port));
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const pod = { KUBERNETES_SERVICE_HOST: "127.0.0.1" };
const run = (...parameters: readonly string[]): Promise<string> =>
  makeKeys(["--name", "ty-keys", ...parameters], pod, root);

test("keys makes the Secret once, and does not change it when it runs again", async () => {
  const said = await run("--label", "app.kubernetes.io/instance=ty");
  expect(said).toBe(`made ${place} with the keys ${allKeys.join(", ")}`);
  const made = stored.get("ty-keys");
  expect(Object.keys(made?.stringData ?? {})).toEqual(allKeys);
  expect(made?.stringData["run-token-key"]).toMatch(/^[0-9a-f]{64}$/);
  expect(made?.stringData["first-token"]).toMatch(/^ty_[0-9a-f]{16}_[\w-]{43}$/);
  expect(made?.stringData["postgres-gateway"]).toMatch(/^[\w-]{32}$/);
  expect(new Set(Object.values(made?.stringData ?? {})).size).toBe(allKeys.length);
  expect(made?.metadata.labels).toMatchObject({ "app.kubernetes.io/instance": "ty" });
  expect(made?.metadata.annotations).toHaveProperty(["kubernetes.io/description"]);
  for (const value of Object.values(made?.stringData ?? {})) expect(said).not.toContain(value);
  expect(await run()).toBe(exists);
  expect(stored.get("ty-keys")).toBe(made);
});

test("keys of two Jobs at once make one Secret, and both end well", async () => {
  const made = `made ${place} with the keys ${allKeys.join(", ")}`;
  expect((await Promise.all([run(), run()])).toSorted()).toEqual([made, exists]);
  expect(stored.size).toBe(1);
  hidden = true;
  asked = [];
  expect(await run()).toBe(exists);
  expect(asked).toEqual([
    "GET /api/v1/namespaces/lab/secrets/ty-keys",
    "POST /api/v1/namespaces/lab/secrets",
    "GET /api/v1/namespaces/lab/secrets/ty-keys",
  ]);
});

test("keys makes only what is asked for, and a Secret that lacks another key fails with its name and what to do", async () => {
  expect(await run("--with", "run-token-key")).toBe(`made ${place} with the keys run-token-key`);
  expect(Object.keys(stored.get("ty-keys")?.stringData ?? {})).toEqual(["run-token-key"]);
  expect(await run("--with", "run-token-key")).toBe(exists);
  await expect(run("--with", "run-token-key,first-token")).rejects.toThrow(
    `${place} lacks the key "first-token", and is not changed: add what it lacks with kubectl -n lab patch secret ty-keys -p '{"stringData":{"first-token":"VALUE"}}'`,
  );
  expect(Object.keys(stored.get("ty-keys")?.stringData ?? {})).toEqual(["run-token-key"]);
});

test("keys names verb, resource and namespace if the API server refuses or is away", async () => {
  const verb = (name: string): string =>
    `the verb "${name}" on the resource "secrets" in the namespace "lab"`;
  refusing = { code: 403, message: 'secrets "ty-keys" is forbidden' };
  await expect(run()).rejects.toThrow(
    `the API server of Kubernetes refuses ${verb("get")} with 403: a Role must give it to the service account of this pod`,
  );
  refusing = { code: 500, message: 'etcd is "full"' };
  await expect(run()).rejects.toThrow(`refuses ${verb("get")} with 500: etcd is "full"`);
  const port = await freePort();
  vi.stubEnv("KUBERNETES_SERVICE_PORT", String(port));
  await expect(run()).rejects.toThrow(
    `the API server of Kubernetes at https://127.0.0.1:${port} does not answer (connect ECONNREFUSED 127.0.0.1:${port}), so ${verb("get")} failed`,
  );
});

test("keys refuses a start outside of a pod and wrong arguments before it asks anything", async () => {
  await expect(makeKeys(["--name", "a"], {}, root)).rejects.toThrow(
    /^this is not a pod of Kubernetes/,
  );
  await expect(makeKeys([], pod, root)).rejects.toThrow(/^the Secret has no name/);
  await expect(run("--with", "all")).rejects.toThrow(
    '--with has "all"; the kinds are run-token-key, first-token, postgres',
  );
  await expect(makeKeys(["--name", "a"], pod, join(root, "none"))).rejects.toThrow(
    /^the pod has no service account/,
  );
  expect(asked).toEqual([]);
});

test("the name of the Secret in the environment comes before that of the arguments", async () => {
  await makeKeys(["--name", "a"], { ...pod, TRAINYARD_KEYS_SECRET: "ty-keys" }, root);
  expect([...stored.keys()]).toEqual(["ty-keys"]);
});
