/**
 * The third-party packages of parts of the workspace, by the lock file: what each depends on in production, directly or
 * indirectly, as it is installed on this platform. An optional package of another platform is not installed.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parse } from "yaml";
import { root } from "../root.ts";

/** Names of packages with the versions, or the places in the workspace, that the lock file gives them. */
type Resolved = Readonly<Record<string, string>>;
type Dependencies = {
  readonly dependencies?: Resolved;
  readonly optionalDependencies?: Resolved;
};

export type LockFile = {
  readonly importers: Readonly<
    Record<string, { readonly dependencies?: Readonly<Record<string, { version: string }>> }>
  >;
  readonly packages: Readonly<Record<string, { readonly resolution: { integrity?: string } }>>;
  readonly snapshots: Readonly<Record<string, Dependencies>>;
};

export type LockedPackage = {
  readonly name: string;
  readonly version: string;
  /** The digest of the package's tarball, such as sha512-…; the registry and the lock file have it. */
  readonly integrity: string;
  /** The folder of the package below the checkout. */
  readonly folder: string;
  /** The folders of the packages that it depends on. */
  readonly needs: readonly string[];
};

/** A link of a node_modules folder; both paths are relative to the checkout. */
export type Link = { readonly at: string; readonly to: string };

export type Closure = {
  /** The folders of the workspace's packages, with the folders of those that each depends on. */
  readonly workspace: ReadonlyMap<string, readonly string[]>;
  readonly packages: readonly LockedPackage[];
  readonly links: readonly Link[];
};

export function readLockFile(): LockFile {
  return parse(readFileSync(join(root, "pnpm-lock.yaml"), "utf8")) as LockFile;
}

/** Returns what packages of the workspace need, themselves included. */
export function closureOf(lock: LockFile, folders: readonly string[]): Closure {
  const walk = new Walk(lock);
  for (const folder of folders) walk.addWorkspace(folder);
  return {
    workspace: walk.workspace,
    packages: [...walk.packages.values()].toSorted((a, b) => (a.folder < b.folder ? -1 : 1)),
    links: [...walk.links].map(([at, to]) => ({ at, to })),
  };
}

class Walk {
  readonly #lock: LockFile;
  readonly workspace = new Map<string, readonly string[]>();
  readonly packages = new Map<string, LockedPackage>();
  readonly links = new Map<string, string>();

  constructor(lock: LockFile) {
    this.#lock = lock;
  }

  /** Returns the folder. */
  addWorkspace(folder: string): string {
    if (this.workspace.has(folder)) return folder;
    this.workspace.set(folder, []);
    const wanted = Object.entries(this.#lock.importers[folder]?.dependencies ?? {});
    const needs = wanted.map(([name, { version }]) => {
      const at = join(folder, "node_modules", name);
      if (!version.startsWith("link:")) return this.#add(at, name, version);
      const to = this.addWorkspace(join(folder, version.slice("link:".length)));
      this.links.set(at, to);
      return to;
    });
    this.workspace.set(folder, needs);
    return folder;
  }

  #add(at: string, name: string, version: string): string {
    const folder = relative(root, realpathSync(join(root, at)));
    if (folder !== at) this.links.set(at, folder);
    if (this.packages.has(folder)) return folder;
    const key = `${name}@${version}` in this.#lock.snapshots ? `${name}@${version}` : version;
    const found = lockedPackage(this.#lock, key, folder);
    this.packages.set(folder, found);
    const siblings = folder.slice(0, -found.name.length);
    const { dependencies = {}, optionalDependencies = {} } = this.#lock.snapshots[key] ?? {};
    const here = Object.entries(optionalDependencies).filter(([one]) =>
      existsSync(join(root, siblings, one)),
    );
    const needs = [...Object.entries(dependencies), ...here]
      // A package of types has no code.
      .filter(([one]) => !one.startsWith("@types/"))
      .map(([one, wanted]) => this.#add(join(siblings, one), one, wanted));
    this.packages.set(folder, { ...found, needs });
    return folder;
  }
}

/** The package at a place, which must be that of the lock file. */
function lockedPackage(lock: LockFile, key: string, folder: string): LockedPackage {
  const locked = key.replace(/\(.*$/, "");
  const manifest = readFileSync(join(root, folder, "package.json"), "utf8");
  const { name, version } = JSON.parse(manifest) as { name: string; version: string };
  if (`${name}@${version}` !== locked) {
    throw new Error(
      `${folder} has ${name}@${version}, and pnpm-lock.yaml ${locked}: install again`,
    );
  }
  const integrity = lock.packages[locked]?.resolution.integrity ?? "";
  return { name, version, integrity, folder, needs: [] };
}

/** The text of a link, relative to its place. */
export const textOf = ({ at, to }: Link): string => relative(dirname(at), to);
