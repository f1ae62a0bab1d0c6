/** Helpers for the tests of this package: homes are removed and processes ended after each test, even when it fails. */
import { randomInt } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Home, homeAt, prepareHome } from "../home/home.ts";
import { launch } from "../processes/launch.ts";
import { ensurePorts, isFree } from "../supervisor/ports.ts";
import {
  initialisePostgres,
  postgresCommand,
  postgresProblem,
  postgresUrl,
} from "../servers/postgres.ts";
import { packagedPostgres } from "../servers/postgres-binaries.ts";
import { type PostgresPlace, preparePlace } from "../servers/postgres-place.ts";
import {
  identityOf,
  isAlive,
  type ProcessIdentity,
  signal,
} from "../processes/process-identity.ts";
import { ensureSecrets, type Secrets } from "../home/secrets.ts";
import { waitUntil } from "../processes/wait.ts";

export function temporaryHome(): Home & Disposable {
  const home = homeAt(mkdtempSync(join(tmpdir(), "trainyard-local-")));
  prepareHome(home);
  return {
    ...home,
    [Symbol.dispose]: () => rmSync(home.path, { recursive: true, force: true }),
  };
}

/** The secrets of a home whose cluster was started before. */
export function secretsOf(home: Home): Secrets {
  return JSON.parse(readFileSync(home.secretsFile, "utf8")) as Secrets;
}

/** A free port below those of outgoing connections. */
export async function drawnPort(): Promise<number> {
  const port = randomInt(10_000, 20_000);
  return (await isFree(port)) ? port : drawnPort();
}

export type TestServer = AsyncDisposable & {
  readonly home: Home;
  readonly place: PostgresPlace;
  readonly secrets: Secrets;
  readonly port: number;
  readonly adminUrl: string;
  readonly process: ProcessIdentity;
  start(): Promise<void>;
};

/** Starts a database server on new files, and waits until it answers. */
export async function startTestServer(home: Home, roles: readonly string[]): Promise<TestServer> {
  const secrets = ensureSecrets(home, { postgresRoles: roles, natsUsers: [] });
  const place = preparePlace(home, secrets.clusterId, packagedPostgres());
  await initialisePostgres(place, secrets.postgresAdminPassword);
  const claimed = await ensurePorts(home, [{ name: "postgres" }]);
  const { postgres: port = 0 } = claimed.ports;
  const adminUrl = postgresUrl(port, "ty_admin", secrets.postgresAdminPassword, "postgres");
  let running: ProcessIdentity | null = null;
  const server = {
    home,
    place,
    secrets,
    port,
    adminUrl,
    get process(): ProcessIdentity {
      if (running === null) throw new Error("the server is not running");
      return running;
    },
    async start(): Promise<void> {
      // Children of a killed server end within moments; until then a new server refuses to start.
      const up = await waitUntil(async () => {
        if (running === null || !isAlive(running)) {
          const child = await launch(postgresCommand(place, port), join(home.logs, "postgres.log"));
          running = identityOf(child.pid ?? 0);
        }
        return (await postgresProblem(adminUrl)) === null;
      }, 120_000);
      if (!up) throw new Error("the test's database server did not start");
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await endProcess(running, "SIGINT");
      claimed[Symbol.dispose]();
    },
  };
  await server.start();
  return server;
}

export async function endProcess(
  process: ProcessIdentity | null,
  how: NodeJS.Signals = "SIGKILL",
): Promise<void> {
  if (process === null) return;
  signal(process, how);
  if (await waitUntil(() => !isAlive(process), 20_000)) return;
  signal(process, "SIGKILL");
}
