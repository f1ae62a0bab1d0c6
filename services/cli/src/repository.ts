/** Records the git repository of a folder of training code. Only packed files are considered. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Plain } from "@trainyard/contracts";
import type { SourceRepository } from "@trainyard/contracts/api";
import { cliLimits } from "./limits.ts";
import { contextRules } from "./pack-context.ts";

const run = promisify(execFile);

/** Returns the repository of a folder; undefined without git, without a commit, or without a tracked file. */
export async function repositoryOf(folder: string): Promise<Plain<SourceRepository> | undefined> {
  const git = gitIn(folder);
  const commit = await git("rev-parse", "HEAD");
  const known = await git("ls-files", "-z", "--", ".");
  if (!commit || !known) return undefined;
  const branch = (await git("symbolic-ref", "--quiet", "--short", "HEAD")) ?? "";
  const upstream = await git("config", "--get", `branch.${branch}.remote`);
  const remote = (await git("remote", "get-url", upstream || "origin")) ?? "";
  const inside = (await git("rev-parse", "--show-prefix")) ?? "";
  const rules = await contextRules(folder);
  const changes = changesIn((await git(...status)) ?? "").filter(
    ({ path }) => !rules.ignores(path.slice(inside.length)),
  );
  const tracked = changes.filter(({ isKnown }) => isKnown).map(({ path }) => path);
  return {
    commit,
    branch,
    remote: remote.replace(/:\/\/[^/]*@/, "://"),
    folder: inside.replace(/\/$/, ""),
    changed: changes.length > 0,
    diff: await diffOf(git, tracked),
  };
}

type Git = (...args: readonly string[]) => Promise<string | undefined>;

/**
 * Returns a git runner; its result is undefined if git fails or its output is too long. Programs that the repository's
 * settings name are not run.
 */
function gitIn(folder: string): Git {
  const { gitMs: timeout, gitBytesMax: maxBuffer } = cliLimits;
  const safe = ["--no-optional-locks", "-c", "core.fsmonitor=false", "-C", folder];
  return async (...args) => {
    try {
      const { stdout } = await run("git", [...safe, ...args], { timeout, maxBuffer });
      return args.includes("-z") || args[0] === "diff" ? stdout : stdout.trimEnd();
    } catch {
      // A submission without a repository is complete too.
      return undefined;
    }
  };
}

const status = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--", "."];

/** Reads the output of `git status --porcelain -z`: two letters, a space, and the path from the repository's root. */
function changesIn(text: string): readonly { readonly path: string; readonly isKnown: boolean }[] {
  return text
    .split("\0")
    .filter((line) => line !== "")
    .map((line) => ({ path: line.slice(3), isKnown: !line.startsWith("??") }));
}

async function diffOf(git: Git, paths: readonly string[]): Promise<string> {
  if (paths.length === 0 || paths.length > cliLimits.gitPathsMax) return "";
  const specs = paths.map((path) => `:(top,literal)${path}`);
  const plain = ["--no-ext-diff", "--no-textconv", "--no-color", "--no-renames"];
  return (await git("diff", "HEAD", ...plain, "--", ...specs)) ?? "";
}
