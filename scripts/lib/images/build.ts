/** Builds images with buildah from a staged context. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { buildWeb, webBuild } from "@trainyard/local-cluster";
import { root } from "../root.ts";
import { type Closure, closureOf, type LockFile, readLockFile } from "./lock-file.ts";
import { billOf, type Commit } from "./sbom.ts";
import { home, settle, stageCommit, stageNode, stagePackages, stageProgram } from "./stage.ts";
import type { Target } from "./targets.ts";

const call = promisify(execFile);

export type Build = {
  readonly targets: readonly Target[];
  /** The bases, by their names in a registry or in the local storage; null for those of the Containerfile. */
  readonly base: string | null;
  readonly agentBase: string | null;
  readonly repository: string;
  readonly tag: string;
  /** The folder for the bills of materials. */
  readonly out: string;
};

export type Built = {
  readonly name: string;
  /** The digest of the image's configuration, which names all of its bytes. */
  readonly id: string;
  /** The size in the words of buildah, such as 151 MB. */
  readonly size: string;
  readonly bill: string;
};

/** Builds the images one after the other, and calls `done` with each. */
export async function buildImages(build: Build, done: (built: Built) => void): Promise<void> {
  const context = mkdtempSync(join(tmpdir(), "trainyard-images-"));
  try {
    const commit = await presentCommit();
    mkdirSync(build.out, { recursive: true });
    await stage(context, build, commit);
    for (const target of build.targets) done(await buildOne(target, { build, commit, context }));
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

async function stage(context: string, build: Build, commit: Commit): Promise<void> {
  const lock = readLockFile();
  stageNode(join(context, "node"));
  stageCommit(join(context, "commit"), commit);
  const hasPages = build.targets.some((target) => target.hasPages);
  const pages = hasPages ? { folder: await builtPages(), closure: pagesOf(lock) } : null;
  for (const target of build.targets) {
    const folder = join(context, target.name);
    const closure = closureOf(lock, target.packages);
    const program = join(folder, "program");
    stagePackages(join(folder, "packages"), closure);
    await stageProgram(program, target, {
      closure,
      version: commit.version,
      pages: target.hasPages ? (pages?.folder ?? null) : null,
    });
    const parts = { lock, closure, pages: target.hasPages ? (pages?.closure ?? null) : null };
    const bill = billOf(target, parts, commit);
    for (const file of [join(program, home, "sbom.cdx.json"), billFile(build, target)]) {
      writeFileSync(file, bill);
    }
    if (target.hasSdk) mkdirSync(join(folder, "state/var/lib/trainyard"), { recursive: true });
  }
  settle(context);
}

const pagesOf = (lock: LockFile): Closure => closureOf(lock, ["services/web"]);

const billFile = (build: Build, target: Target): string =>
  join(build.out, `${target.name}.cdx.json`);

async function builtPages(): Promise<string> {
  const build = webBuild(root);
  if (build === null) throw new Error("the checkout has no services/web");
  await buildWeb(build, join(root, ".cache", "web-build.log"));
  return build.folder;
}

async function buildOne(
  target: Target,
  { build, commit, context }: { build: Build; commit: Commit; context: string },
): Promise<Built> {
  const name = `${build.repository}/${target.name}:${build.tag}`;
  const args = {
    ...(build.base === null ? {} : { BASE: build.base }),
    ...(build.agentBase === null ? {} : { AGENT_BASE: build.agentBase }),
    VERSION: commit.version,
    REVISION: commit.revision,
    CREATED: new Date(commit.committedAtS * 1000).toISOString(),
  };
  await buildah(
    "build",
    "--layers",
    ...["--file", join(root, "deploy/images/Containerfile"), "--target", target.name],
    // Neither a label with buildah's version nor times, so that the same files give the same bytes.
    ...["--identity-label=false", "--timestamp=0"],
    ...Object.entries(args).flatMap(([name, text]) => ["--build-arg", `${name}=${text}`]),
    ...["--tag", name, context],
  );
  const format = "{{.FromImageID}}";
  const id = await buildah("inspect", "--type", "image", "--format", format, name);
  const size = await buildah("images", "--format", "{{.Size}}", name);
  return { name, id, size, bill: billFile(build, target) };
}

async function presentCommit(): Promise<Commit> {
  const git = async (...args: readonly string[]): Promise<string> =>
    (await call("git", ["-C", root, ...args])).stdout.trim();
  const isChanged = (await git("status", "--porcelain")) !== "";
  const manifest = readFileSync(join(root, "package.json"), "utf8");
  return {
    version: (JSON.parse(manifest) as { readonly version: string }).version,
    revision: `${await git("rev-parse", "HEAD")}${isChanged ? "-dirty" : ""}`,
    committedAtS: Number(await git("log", "-1", "--format=%ct")),
  };
}

/** Returns buildah's output. Throws with its last line. */
async function buildah(...args: readonly string[]): Promise<string> {
  // Where Podman's storage is not in its usual place.
  const places = (process.env["TRAINYARD_STORAGE_OPTIONS"] ?? "").split(" ").filter(Boolean);
  try {
    const options = { maxBuffer: 64 * 1024 * 1024 };
    return (await call("buildah", [...places, ...args], options)).stdout.trim();
  } catch (error) {
    throw new Error(sentenceOf(error), { cause: error });
  }
}

function sentenceOf(error: unknown): string {
  const { code, stderr } = error as { readonly code?: unknown; readonly stderr?: string };
  if (code === "ENOENT")
    return "buildah was not found: install it, for example with apt-get install buildah";
  const last = (stderr ?? "").trim().split("\n").at(-1) ?? "";
  return `buildah: ${last === "" ? String(error) : last}`;
}
