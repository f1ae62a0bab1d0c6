// npm run -s release -- VERSION [--dry-run] [--out FOLDER]: builds the npm tarballs and the Python wheel of a version,
// with their SHA-256 and the version's notes from the CHANGELOG. It publishes nothing. The same commit gives the same
// bytes.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { isVersion, sectionOf } from "../lib/release/notes.ts";
import { catalog, pack, packagesToPublish } from "../lib/release/packages.ts";
import { makeWheel } from "../lib/release/wheel.ts";
import { repositoryFiles } from "../lib/repository-files.ts";
import { root } from "../lib/root.ts";
import { runTool } from "../lib/run-tool.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { "dry-run": { type: "boolean", default: false }, out: { type: "string" } },
});
const problem = await release(positionals[0] ?? "", values["dry-run"], values.out);
if (problem !== null) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}

/** Builds the release. Returns null, or the reason why it cannot be built. */
async function release(
  version: string,
  isDryRun: boolean,
  folder: string | undefined,
): Promise<string | null> {
  if (!isVersion(version)) {
    return `"${version}" is no version: give one like 0.2.0 or 0.2.0-rc.1, as in npm run -s release -- 0.2.0`;
  }
  const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  // A dry run of a version without a section uses the notes of the section "Unreleased".
  const notes =
    sectionOf(changelog, version) ?? (isDryRun ? sectionOf(changelog, "Unreleased") : null);
  if (notes === null) {
    return `CHANGELOG.md has no section "## ${version}": name its section "Unreleased" so, and commit.`;
  }
  const changed = git("status", "--porcelain");
  if (changed !== "" && !isDryRun) {
    return `The checkout differs from its commit (${changed.split("\n")[0]} …): commit first, or use --dry-run.`;
  }
  const out = resolve(
    process.env["TRAINYARD_CALLER_DIR"] ?? ".",
    folder ?? join(root, ".cache", "release", version),
  );
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const names = await build(version, out);
  writeFileSync(join(out, "NOTES.md"), `${notes}\n`);
  writeFileSync(join(out, "SHA256SUMS"), names.map((name) => sumOf(out, name)).join(""));
  process.stdout.write(
    `${names.join("\n")}\n\n${names.length} files of version ${version} in ${out}\n`,
  );
  if (isDryRun) process.stdout.write("A dry run: from the files as they are, committed or not.\n");
  return null;
}

async function build(version: string, out: string): Promise<readonly string[]> {
  const files = repositoryFiles();
  const projects = files.filter((file) => /^(libs|services)\/.*tsconfig\.json$/.test(file));
  const types = await runTool("tsc", ["-b", ...projects]);
  if (types.code !== 0) throw new Error(`The types do not compile:\n${types.output}`);
  const stage = mkdtempSync(join(tmpdir(), "trainyard-release-"));
  try {
    const pinned = catalog();
    const tarballs: string[] = [];
    for (const one of packagesToPublish(files)) {
      tarballs.push(await pack(one, { version, pinned, stage, out }));
    }
    const committedAtS = Number(git("log", "-1", "--format=%ct"));
    const wheel = await makeWheel({ version, stage, out, committedAtS }, say);
    return [...tarballs, wheel].sort();
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function sumOf(out: string, name: string): string {
  const digest = createHash("sha256")
    .update(readFileSync(join(out, name)))
    .digest("hex");
  return `${digest}  ${name}\n`;
}

function git(...args: readonly string[]): string {
  return execFileSync("git", ["-C", root, ...args], { encoding: "utf8" }).trim();
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
