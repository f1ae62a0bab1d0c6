/** A real PostgreSQL for tests: a separate server on a free port; disposing of it also deletes its data. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "./free-port.ts";
import { madeOnce, type PostgresBinaries, postgresBinaries } from "./postgres-binaries.ts";

const run = promisify(execFile);

export type TestPostgres = AsyncDisposable & {
  readonly host: string;
  readonly port: number;
  /** The superuser's name; connections from this machine are trusted, for every role. */
  readonly user: string;
  readonly pid: number;
  /** The server's data folder. */
  readonly data: string;
  /** Returns a connection string; by default the superuser's, to the database `postgres`. */
  url(options?: { user?: string; database?: string }): string;
  /** Shuts the server down like an operator; the data is kept until it is disposed of. */
  stop(): Promise<void>;
  /** Stops the server without a checkpoint: a server on a copy of the data recovers from its log, as after a crash. */
  crash(): Promise<void>;
};

export type TestPostgresOptions = {
  /**
   * With fsync the data survives a crash of the machine; without it tests are faster. Benchmarks and crash tests need
   * it.
   */
  readonly fsync?: boolean;
  /** Further settings of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>;
  /** A data folder of which the server gets a copy, instead of an empty one. */
  readonly copyOf?: string;
};

const host = "127.0.0.1";
const startAttempts = 3;
const startTimeoutMs = 120_000;

/** Starts a new server; resolves when it accepts connections. */
export async function startTestPostgres(options: TestPostgresOptions = {}): Promise<TestPostgres> {
  const binaries = await postgresBinaries();
  const { postgres, runAs } = binaries;
  const home = await mkdtemp(join(tmpdir(), "trainyard-pg-"));
  const data = join(home, "data");
  if (runAs !== undefined) await chown(home, runAs.uid, runAs.gid);
  await run("cp", ["-a", options.copyOf ?? (await emptyData(binaries)), data]);
  const fsync = options.fsync ?? false;
  const settings = {
    listen_addresses: host,
    unix_socket_directories: "",
    fsync,
    full_page_writes: fsync,
    max_connections: 200,
    shared_buffers: "256MB",
    ...options.settings,
  };
  const flags = Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const child = spawn(postgres, ["-D", data, "-p", String(port), ...flags], {
      cwd: home,
      stdio: ["ignore", "ignore", "pipe"],
      ...runAs,
    });
    const failure = await accepting(child);
    if (failure === undefined) return handle(child, port, home);
    // Another process may take the port between the search for a free one and the server's start.
    if (attempt === startAttempts) throw new Error(`PostgreSQL did not start: ${failure}`);
  }
}

/** Returns the data folder of a server that never ran: a copy of it takes a tenth of initdb's time. */
function emptyData({ version, initdb, runAs }: PostgresBinaries): Promise<string> {
  const uid = runAs?.uid ?? userInfo().uid;
  const flags = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
  return madeOnce(`trainyard-test-postgres-data-${version}`, uid, async (folder) => {
    if (runAs !== undefined) await chown(folder, runAs.uid, runAs.gid);
    await run(initdb, ["-D", folder, ...flags], { cwd: folder, ...runAs });
  });
}

/** Resolves with undefined when the server reports that it is ready; otherwise with its output before it exited. */
function accepting(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    let said = "";
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      resolve(`nothing after ${startTimeoutMs} ms; ${said}`);
    }, startTimeoutMs);
    const settle = (outcome: string | undefined): void => {
      clearTimeout(timer);
      resolve(outcome);
    };
    child.stderr?.on("data", (chunk: Buffer) => {
      if (said.length < 10_000) said += chunk.toString();
      if (said.includes("database system is ready to accept connections")) settle(undefined);
    });
    child.once("exit", () => settle(said));
    child.once("error", (error) => settle(String(error)));
  });
}

function handle(child: ChildProcess, port: number, home: string): TestPostgres {
  // A test that does not dispose of its server must not leave it running, nor be kept running by it.
  const onExit = (): void => void child.kill("SIGQUIT");
  process.once("exit", onExit);
  child.unref();
  if (child.stderr !== null && "unref" in child.stderr) (child.stderr as { unref(): void }).unref();
  const end = async (how: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const ended = once(child, "exit");
    child.kill(how);
    await ended;
  };
  return {
    host,
    port,
    data: join(home, "data"),
    user: "postgres",
    pid: child.pid ?? 0,
    url: ({ user = "postgres", database = "postgres" } = {}) =>
      `postgres://${encodeURIComponent(user)}@${host}:${port}/${encodeURIComponent(database)}`,
    // Fast shutdown: the server ends all sessions and writes everything.
    stop: () => end("SIGINT"),
    crash: () => end("SIGQUIT"),
    async [Symbol.asyncDispose]() {
      process.off("exit", onExit);
      // Immediate shutdown: the data is deleted anyway.
      await end("SIGQUIT");
      await rm(home, { recursive: true, force: true });
    },
  };
}
