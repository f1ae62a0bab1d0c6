/**
 * Finds or downloads a nats-server. It searches TRAINYARD_NATS_SERVER, PATH and the cache. Otherwise it downloads the
 * distribution's package into the cache, unpacked but not installed, or else the official release. Any number of
 * processes may do this concurrently: each unpacks in a temporary folder and renames the finished file into place.
 */
import {
  accessSync,
  constants,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { Fault } from "@trainyard/kernel";
import { checkNatsServer } from "./nats-version.ts";
import { fetchFromDistribution, fetchFromRelease } from "./nats-download.ts";

export type NatsBinaryOptions = {
  /** The folder of a downloaded server, at `nats-server/nats-server`. */
  readonly cacheDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called with a line of text before a slow step. */
  readonly onProgress?: (line: string) => void;
  /** Folders that are searched after PATH. */
  readonly systemFolders?: readonly string[];
  /** The sources to download from, in order; each puts an executable file at the path that it receives. */
  readonly sources?: readonly NatsSource[];
};

export type NatsSource = {
  readonly name: string;
  readonly fetch: (folder: string) => Promise<string>;
};

/** Debian installs servers in folders outside the PATH of ordinary users. */
const defaultSystemFolders = ["/usr/sbin", "/usr/local/sbin", "/sbin"];

const defaultSources: readonly NatsSource[] = [
  { name: "the distribution's package", fetch: fetchFromDistribution },
  { name: "the official release", fetch: fetchFromRelease },
];

/** Returns the path of an executable nats-server. Throws a Fault `no_nats_server` whose message names the remedy. */
export async function natsServerBinary(options: NatsBinaryOptions): Promise<string> {
  const { cacheDir, env, onProgress = () => {} } = options;
  const { systemFolders = defaultSystemFolders, sources = defaultSources } = options;
  const named = env["TRAINYARD_NATS_SERVER"];
  if (named !== undefined && named !== "") {
    const problem = await problemWith(named);
    if (problem === null) return named;
    throw new Fault(
      "no_nats_server",
      `TRAINYARD_NATS_SERVER names no usable nats-server (${problem}): correct it or unset it.`,
      { retry: "never" },
    );
  }
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const folder of [...folders, ...systemFolders]) {
    const candidate = join(folder, "nats-server");
    // A server that is too old is skipped: a newer one can be downloaded.
    if (isExecutable(candidate) && (await problemWith(candidate)) === null) return candidate;
  }
  const cacheFolder = join(cacheDir, "nats-server");
  const cached = join(cacheFolder, "nats-server");
  if (isExecutable(cached)) return cached;
  mkdirSync(cacheFolder, { recursive: true });
  const failures: string[] = [];
  for (const source of sources) {
    onProgress(`fetching nats-server from ${source.name}`);
    const draft = mkdtempSync(join(cacheFolder, "draft-"));
    try {
      renameSync(await source.fetch(draft), cached);
      return cached;
    } catch (error) {
      failures.push(`${source.name}: ${firstLine(error)}`);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
    // Another process may have downloaded it meanwhile.
    if (isExecutable(cached)) return cached;
  }
  throw new Fault(
    "no_nats_server",
    `There is no nats-server on this machine and none could be fetched (${failures.join("; ")}): install it (on Debian or Ubuntu: apt-get install nats-server) or set TRAINYARD_NATS_SERVER to one of version 2.9 or newer.`,
    { retry: "never" },
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

async function problemWith(path: string): Promise<string | null> {
  if (!isExecutable(path)) return `${path} is not an executable file`;
  return await checkNatsServer(path).then(() => null, firstLine);
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split("\n", 1)[0] ?? text;
}
