/** Follows docs/operate/deploy.md: migrate prepares the database, and one service starts alone. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { startNats } from "@trainyard/bus/testing";
import { programFile } from "@trainyard/kernel/program-file";
import { freePort, startTestPostgres, type TestPostgres } from "@trainyard/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../world/eventually.ts";

const root = join(import.meta.dirname, "../..");
const database = "trainyard";

let stack = new AsyncDisposableStack();
beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

type Environment = Readonly<Record<string, string>>;
type Program = {
  readonly child: ChildProcess;
  /** The program's output so far. */
  said(): string;
  ended(): Promise<number | null>;
};

/** Starts the program of a folder with only these variables and PATH. */
function start(folder: string, environment: Environment): Program {
  const child = spawn(process.execPath, [programFile(join(root, folder, "src/main.ts"))], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      TY_TEST_RUN: process.env["TY_TEST_RUN"],
      ...environment,
    },
  });
  const exit = once(child, "exit");
  stack.defer(async () => {
    child.kill("SIGKILL");
    await exit;
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  }
  return { child, said: () => text, ended: async () => (await exit)[0] as number | null };
}

async function migrate(environment: Environment): Promise<{ code: number | null; said: string }> {
  const program = start("libs/migrate", environment);
  return { code: await program.ended(), said: program.said() };
}

const adminOf = (postgres: TestPostgres): Environment => ({
  TRAINYARD_POSTGRES_ADMIN_URL: postgres.url({ database }),
});

const readyz = async (port: number): Promise<boolean> =>
  (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;

const livez = (port: number): Promise<"answered" | "refused"> =>
  fetch(`http://127.0.0.1:${port}/livez`).then(
    () => "answered",
    () => "refused",
  );

test("migrate prepares an empty PostgreSQL, one service starts alone on it, and migrating again changes nothing", async () => {
  const postgres = stack.use(await startTestPostgres());
  const nats = stack.use(await startNats());
  const first = await migrate(adminOf(postgres));
  expect(first).toMatchObject({ code: 0 });
  expect(first.said).toContain("created role ty_experiments\n");

  const port = await freePort();
  const service = start("services/experiments", {
    TRAINYARD_POSTGRES_URL: postgres.url({ user: "ty_experiments", database }),
    TRAINYARD_NATS_URL: nats.url,
    TRAINYARD_HTTP_PORT: String(port),
  });
  await eventually("experiments is ready", () => readyz(port));

  const again = await migrate(adminOf(postgres));
  expect(again.code).toBe(0);
  expect(again.said).toMatch(/^database trainyard is up to date, its log is at version \d+\n$/);
  expect(await readyz(port)).toBe(true);
  service.child.kill("SIGTERM");
  expect(await service.ended()).toBe(0);
});

test("a service that is started before its database is migrated exits with the reason", async () => {
  const postgres = stack.use(await startTestPostgres());
  const nats = stack.use(await startNats());
  const service = start("services/experiments", {
    TRAINYARD_POSTGRES_URL: postgres.url({ user: "ty_experiments" }),
    TRAINYARD_NATS_URL: nats.url,
  });
  expect(await service.ended()).toBe(1);
  expect(service.said()).toBe('cannot start: role "ty_experiments" does not exist\n');
});

test("a service without settings exits with 2 and one line that names the missing ones", async () => {
  const service = start("services/experiments", { TRAINYARD_NATS_URL: "nats://127.0.0.1:4222" });
  expect(await service.ended()).toBe(2);
  expect(service.said()).toBe(
    "cannot start: environment variables are wrong: TRAINYARD_POSTGRES_URL: is not set\n",
  );
});

test("migrate prints one line about the problem, and exits with 2 for its settings and 1 for others", async () => {
  expect(await migrate({})).toEqual({
    code: 2,
    said: expect.stringMatching(/^migrate: .*TRAINYARD_POSTGRES_ADMIN_URL: must be postgres:.*\n$/),
  });
  const port = await freePort();
  const url = `postgres://admin:hidden@127.0.0.1:${port}/trainyard`;
  const refused = await migrate({ TRAINYARD_POSTGRES_ADMIN_URL: url });
  expect(refused.code).toBe(1);
  expect(refused.said).toMatch(/^migrate: .*ECONNREFUSED.*\n$/);
  expect(refused.said).not.toContain("hidden");
});

test.each(["SIGTERM", "SIGKILL"] as const)(
  "a service that npm runs ends after a %s to npm",
  async (signal) => {
    const postgres = stack.use(await startTestPostgres());
    const nats = stack.use(await startNats());
    await migrate(adminOf(postgres));
    const port = await freePort();
    const npm = spawn("npm", ["run", "-s", "service", "--", "experiments"], {
      stdio: ["ignore", "ignore", "inherit"],
      cwd: join(import.meta.dirname, "../.."),
      env: {
        ...process.env,
        TRAINYARD_POSTGRES_URL: postgres.url({ user: "ty_experiments", database }),
        TRAINYARD_NATS_URL: nats.url,
        TRAINYARD_HTTP_PORT: String(port),
        TRAINYARD_LOG_LEVEL: "silent",
      },
    });
    stack.defer(() => void npm.kill("SIGKILL"));
    await eventually("experiments is ready", () => readyz(port));
    const exit = once(npm, "exit");
    npm.kill(signal);
    await expect.poll(() => livez(port), { timeout: 60_000 }).toBe("refused");
    const [code] = (await exit) as [number | null];
    // Drained; a killed npm has no exit code.
    expect(code).toBe(signal === "SIGTERM" ? 0 : null);
  },
);
