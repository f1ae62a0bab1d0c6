/**
 * The programs of the chart as processes of this host, with the environments of their containers: the variables of the
 * chart are enough for an experiment. Only addresses, ports and folders are this host's.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startNats } from "@trainyard/bus/testing";
import { programFile } from "@trainyard/kernel/program-file";
import { checkout } from "@trainyard/local-cluster";
import { freePort, startTestPostgres } from "@trainyard/testing";
import { S3Server, testUser } from "@trainyard/testing/s3";
import { expect, test } from "vitest";
import { needHelm } from "../programs.ts";
import { eventually } from "../../world/eventually.ts";
import { environmentOf, type Secrets } from "./environment.ts";
import { manifestsOf, template } from "./helm.ts";
import { type Pod, podsOf } from "./manifests.ts";

const token = `ty_${"0123456789abcdef"}_${"A".repeat(43)}`;
const secrets: Secrets = {
  user: "postgres",
  "run-token-key": "0".repeat(64),
  "first-token": token,
  "access-key-id": testUser.accessKeyId,
  "secret-access-key": testUser.secretAccessKey,
};

type Program = { readonly exit: Promise<unknown[]>; said(): string };

function start(
  stack: AsyncDisposableStack,
  folder: string,
  environment: Secrets,
  args: readonly string[] = [],
): Program {
  const child = spawn(
    process.execPath,
    [programFile(join(checkout, folder, "src/main.ts")), ...args],
    {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env["PATH"],
        TY_TEST_RUN: process.env["TY_TEST_RUN"],
        ...environment,
      },
    },
  );
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  }
  const exit = once(child, "exit");
  stack.defer(async () => {
    child.kill("SIGKILL");
    await exit;
  });
  return { exit, said: () => text };
}

const isReady = (port: number | undefined): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port ?? 0}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );

/** Returns the chart's pods for these servers, and a free port for each. */
async function chartFor(
  values: object,
): Promise<{ pods: readonly Pod[]; ports: Map<string, number> }> {
  const pods = podsOf(manifestsOf(await template({ values })));
  const ports = new Map<string, number>();
  for (const { component } of pods) ports.set(component, await freePort());
  return { pods, ports };
}

test("with the environments of their containers all services and an agent are ready, and `helm test` trains", async ({
  skip,
}) => {
  needHelm(skip);
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "ty-chart-"));
  stack.defer(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "first-token"), token);
  const postgres = stack.use(await startTestPostgres());
  const nats = stack.use(await startNats());
  const store = stack.use(await S3Server.start({ buckets: ["models"] }));
  const { pods, ports } = await chartFor({
    postgres: { host: postgres.host, port: postgres.port, adminSecret: { name: "admin" } },
    nats: { url: nats.url },
    storage: {
      blobs: "s3://models/blobs",
      checkpoints: "s3://models/checkpoints",
      endpoint: store.url,
      existingSecret: "bucket",
    },
    agents: { a: { slots: 1 } },
  });
  const at = (component: string): string => `http://127.0.0.1:${ports.get(component) ?? 0}`;
  const run = (pod: Pod, program: string): Program => {
    const ofHost: Secrets = {
      TRAINYARD_HTTP_HOST: "127.0.0.1",
      TRAINYARD_HTTP_PORT: String(ports.get(pod.component)),
      TRAINYARD_GRPC_PORT: "0",
      TRAINYARD_GATEWAY_PEER_URL: at("gateway"),
      TRAINYARD_API_URL: at("gateway"),
      TRAINYARD_URL: at("gateway"),
      TRAINYARD_METRICS_URL: at("metrics"),
      TRAINYARD_FIRST_TOKEN_FILE: join(folder, "first-token"),
      TRAINYARD_AGENT_DIR: join(folder, "agent"),
    };
    const environment: Record<string, string> = { ...environmentOf(pod.container, secrets) };
    for (const [name, value] of Object.entries(ofHost)) {
      if (name in environment) environment[name] = value;
    }
    // The image of agents sets it.
    if (pod.isAgent) environment["TRAINYARD_SDK_PATH"] = join(checkout, "libs/sdk-python/src");
    return start(stack, program, environment, pod.container.args);
  };
  const podOf = (name: string): Pod => pods.find(({ component }) => component === name) as Pod;

  const migrate = run(podOf("migrate"), "libs/migrate");
  expect([await migrate.exit, migrate.said()]).toEqual([
    [0, null],
    expect.stringContaining("database trainyard is up to date"),
  ]);
  const programs = pods.filter(({ container }) => container.ports !== undefined);
  expect(programs.length).toBe(11);
  for (const pod of programs)
    run(pod, pod.isAgent ? "services/agent" : `services/${pod.component}`);
  for (const { component } of programs) {
    await eventually(`${component} is ready`, () => isReady(ports.get(component)));
  }
  const tried = run(podOf("test"), "deploy/install");
  const [code] = await tried.exit;
  expect([code, tried.said()]).toEqual([
    0,
    expect.stringContaining("the cluster trains, reports and stores checkpoints"),
  ]);
  const folders = [...(store.buckets.get("models")?.objects.keys() ?? [])].map(
    (key) => key.split("/")[0],
  );
  expect(new Set(folders)).toEqual(new Set(["blobs", "checkpoints"]));
});
