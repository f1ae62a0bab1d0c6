/** The images of deploy/images/Containerfile as containers, with the rights of a pod of the profile "restricted". */
import { startNats } from "@trainyard/bus/testing";
import { services } from "@trainyard/kernel/services";
import { freePort, startTestPostgres, type TestPostgres } from "@trainyard/testing";
import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "../world/eventually.ts";
import { imageOf, imagesProblem } from "./built.ts";
import { podman, test } from "./images.ts";

const restricted = ["--network=host", "--read-only", "--cap-drop=all", "--user=10001"];
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

const database = "trainyard";
let postgres: TestPostgres;
let natsUrl: string;

beforeAll(async () => {
  if (imagesProblem() !== null) return;
  postgres = stack.use(await startTestPostgres());
  natsUrl = stack.use(await startNats()).url;
  const url = postgres.url({ database });
  run("--rm", `--env=TRAINYARD_POSTGRES_ADMIN_URL=${url}`, imageOf("migrate"));
});

const run = (...argv: readonly string[]): string => podman.run("run", ...restricted, ...argv);

function environmentOf(service: string): Readonly<Record<string, string>> {
  const user = `ty_${service.replaceAll("-", "_")}`;
  return {
    TRAINYARD_POSTGRES_URL: postgres.url({ user, database }),
    TRAINYARD_NATS_URL: natsUrl,
    TRAINYARD_HTTP_HOST: "127.0.0.1",
    TRAINYARD_GRPC_PORT: "0",
    TRAINYARD_RUN_TOKEN_KEY: "5e".repeat(32),
    TRAINYARD_BLOB_DIR: "/tmp/blobs",
    TRAINYARD_CHECKPOINT_DIR: "/tmp/checkpoints",
  };
}

async function started(target: string, more: Readonly<Record<string, string>>) {
  const port = await freePort();
  const all = { ...more, TRAINYARD_HTTP_PORT: String(port) };
  const env = Object.entries(all).map(([name, value]) => `--env=${name}=${value}`);
  run("--detach", `--name=${target}`, ...env, imageOf(target));
  const answers = async (path: string): Promise<boolean> =>
    (await fetch(`http://127.0.0.1:${port}${path}`)).ok;
  return {
    answers,
    /** Stops it as Kubernetes does, and returns its exit code. */
    stop: (): number => {
      podman.run("stop", "--time=60", target);
      return Number(podman.run("inspect", "--format={{.State.ExitCode}}", target));
    },
    said: (): string => podman.run("logs", target),
    port,
  };
}

test("containers of the images start every service on PostgreSQL and NATS, read-only and without capabilities, and drain it", async () => {
  const running = new Map<string, Awaited<ReturnType<typeof started>>>();
  for (const { name } of services) running.set(name, await started(name, environmentOf(name)));
  for (const [name, one] of running) {
    await eventually(`${name} answers /livez`, () => one.answers("/livez"));
    await eventually(`${name} is ready`, () => one.answers("/readyz"));
  }
  const gateway = running.get("gateway");
  const page = await fetch(`http://127.0.0.1:${gateway?.port}/`);
  expect(await page.text()).toContain("<div id=");
  for (const [name, one] of running) expect({ name, code: one.stop() }).toEqual({ name, code: 0 });
});

test("containers of the images migrate a database, and name the programs of an installation", () => {
  const url = postgres.url({ database });
  const said = run("--rm", `--env=TRAINYARD_POSTGRES_ADMIN_URL=${url}`, imageOf("migrate"));
  expect(said).toMatch(/^database trainyard is up to date/);
  expect(run("--rm", imageOf("migrate"), "nats-users")).toContain('user: "experiments"');
});

test("containers of the images start an agent that holds runs, imports the package trainyard, and keeps no zombies", async () => {
  const agent = await started("agent", {
    TRAINYARD_NATS_URL: natsUrl,
    TRAINYARD_API_URL: "http://127.0.0.1:1",
    TRAINYARD_METRICS_URL: "http://127.0.0.1:1",
    TRAINYARD_HTTP_HOST: "127.0.0.1",
    TRAINYARD_AGENT_NAME: "a",
  });
  await eventually("the agent answers /livez", () => agent.answers("/livez"), 60_000);
  const inside = (...argv: readonly string[]): string => podman.run("exec", "agent", ...argv);
  expect(inside("sh", "-c", "ls -d /var/lib/trainyard/runs; id -u").trim()).toBe(
    "/var/lib/trainyard/runs\n10001",
  );
  const script = "import trainyard; print(trainyard.__file__)";
  const imported = inside("env", "PYTHONPATH=/opt/trainyard/python", "python3", "-c", script);
  expect(imported.trim()).toBe("/opt/trainyard/python/trainyard/__init__.py");
  inside("sh", "-c", "(sleep 0.1 &)");
  await eventually("the process that lost its parent is gone", () =>
    Promise.resolve(!/sleep/.test(inside("ps", "-A", "-o", "comm="))),
  );
  expect(agent.stop()).toBe(0);
});
