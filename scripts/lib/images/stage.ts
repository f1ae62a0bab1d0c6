/**
 * Makes the folders that buildah copies into an image, with the same paths as the checkout below /opt/trainyard. Each
 * becomes a layer, whose bytes depend on its files alone: modes and times are the same in every build, so the layers of
 * Node and of the packages stay the same from commit to commit, and need not be pulled again.
 */
import {
  chmodSync,
  copyFileSync,
  cpSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, extname, join } from "node:path";
import process from "node:process";
import { catalog, packageIn, writePackage } from "../release/packages.ts";
import { root } from "../root.ts";
import { type Closure, type LockedPackage, textOf } from "./lock-file.ts";
import type { Target } from "./targets.ts";

/** The folder of Trainyard in an image. */
export const home = "opt/trainyard";

/** Kinds of files that Node reads. Types, maps, documents, scripts and sources in C are left out. */
const kinds = new Set([".js", ".cjs", ".mjs", ".json", ".node", ".proto", ".wasm"]);
const isLegal = (name: string): boolean => /^(licen[cs]e|notice|copying)/i.test(name);

/** Writes Node into `folder`, which all images share. */
export function stageNode(folder: string): void {
  const bin = join(folder, home, "bin");
  mkdirSync(bin, { recursive: true });
  const installed = join(root, "node_modules", `node-linux-${process.arch}`);
  copyFileSync(join(installed, "bin", "node"), join(bin, "node"));
  // A base may lack a folder that everyone may write.
  mkdirSync(join(folder, "tmp"));
  copyFileSync(join(installed, "LICENSE"), join(folder, home, "LICENSE.node"));
}

/** Writes what the images are built of, which their labels repeat. */
export function stageCommit(folder: string, commit: object): void {
  mkdirSync(join(folder, home), { recursive: true });
  writeFileSync(join(folder, home, "commit.json"), `${JSON.stringify(commit)}\n`);
}

/** Writes the third-party packages into `folder`. */
export function stagePackages(folder: string, { packages, links }: Closure): void {
  const place = join(folder, home);
  for (const one of packages) copyRuntimeFiles(one, join(place, one.folder));
  for (const link of links) {
    if (!link.at.startsWith("node_modules/")) continue;
    makeLink(place, link);
  }
}

/** Writes the compiled packages of the workspace into `folder`, the pages and the Python package. */
export async function stageProgram(
  folder: string,
  target: Target,
  { closure, version, pages }: { closure: Closure; version: string; pages: string | null },
): Promise<void> {
  const place = join(folder, home);
  const pinned = catalog();
  for (const folder of closure.workspace.keys()) {
    await writePackage(packageIn(folder), join(place, folder), {
      version,
      pinned,
      declares: false,
    });
  }
  for (const link of closure.links) {
    if (!link.at.startsWith("node_modules/")) makeLink(place, link);
  }
  copyFileSync(join(root, "LICENSE"), join(place, "LICENSE"));
  if (pages !== null) cpSync(pages, join(place, "web"), { recursive: true });
  if (target.hasSdk) {
    copyFileSync(join(root, "deploy/images/agent/init.py"), join(place, "init.py"));
    cpSync(join(root, "libs/sdk-python/src/trainyard"), join(place, "python/trainyard"), {
      recursive: true,
      filter: (path) => !/__pycache__|\.pyc$/.test(path),
    });
  }
}

/** A package's own files; its dependencies are links beside it. */
function copyRuntimeFiles({ folder }: LockedPackage, target: string): void {
  const source = join(root, folder);
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(source.length + 1);
    if (!entry.isFile() || path.startsWith("node_modules/")) continue;
    if (!kinds.has(extname(entry.name)) && !isLegal(entry.name)) continue;
    mkdirSync(dirname(join(target, path)), { recursive: true });
    copyFileSync(join(source, path), join(target, path));
  }
}

function makeLink(place: string, link: { readonly at: string; readonly to: string }): void {
  const path = join(place, link.at);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(textOf(link), path);
}

/** Gives everything below the folder the modes and the times of all files of images. */
export function settle(folder: string, mode = 0o755): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) settle(path, entry.name === "tmp" ? 0o1777 : 0o755);
    else if (entry.isFile()) chmodSync(path, entry.name === "node" ? 0o755 : 0o644);
    lutimesSync(path, 0, 0);
  }
  chmodSync(folder, mode);
  lutimesSync(folder, 0, 0);
}
