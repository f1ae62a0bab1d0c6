/** Tests the files of a release, built from this checkout, installed elsewhere and started there. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { extract } from "tar";
import { beforeAll, describe, expect, it } from "vitest";
import { packagesToPublish } from "../../scripts/lib/release/packages.ts";
import { repositoryFiles } from "../../scripts/lib/repository-files.ts";
import { root } from "../../scripts/lib/root.ts";
import { built, version } from "./built.ts";
import "./client-package.ts";

const call = promisify(execFile);
const script = join(root, "scripts", "tasks", "release.ts");
let folder: string;
let out: string;

beforeAll(async () => {
  ({ folder, out } = built);
  await install();
});

/** Installs the packages below node_modules as npm does, with third-party packages from the checkout. */
async function install(): Promise<void> {
  for (const { folder: source, manifest } of packagesToPublish(repositoryFiles())) {
    const target = join(folder, "node_modules", manifest.name);
    mkdirSync(target, { recursive: true });
    const tarball = `${manifest.name.replace(/^@/, "").replace("/", "-")}-${version}.tgz`;
    await extract({ file: join(out, tarball), cwd: target, strip: 1 });
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      const link = join(folder, "node_modules", name);
      if (name.startsWith("@trainyard/") || existsSync(link)) continue;
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(realpathSync(join(root, source, "node_modules", name)), link);
    }
  }
}

const program = (name: string): string =>
  join(folder, "node_modules", "@trainyard", name, "src", "main.js");

const sumOf = (file: string): string =>
  createHash("sha256").update(readFileSync(file)).digest("hex");

describe("a release", () => {
  it("names the SHA-256 of each of its files", () => {
    const sums = readFileSync(join(out, "SHA256SUMS"), "utf8").trim().split("\n");
    const files = readdirSync(out).filter((name) => /\.(tgz|whl)$/.test(name));
    expect(sums.map((line) => line.split("  ")[1])).toEqual(files.sort());
    for (const line of sums) {
      const [sum, name = ""] = line.split("  ");
      expect(sumOf(join(out, name))).toBe(sum);
    }
    expect(files).toContain("trainyard-9.8.7rc6-py3-none-any.whl");
  });

  it("has the same bytes when it is built again", async () => {
    const again = join(folder, "again");
    await call(process.execPath, [script, version, "--dry-run", "--out", again]);
    expect(readFileSync(join(again, "SHA256SUMS"), "utf8")).toBe(
      readFileSync(join(out, "SHA256SUMS"), "utf8"),
    );
  });

  it("has a command line that starts outside of a checkout", async () => {
    const { stdout } = await call(process.execPath, [program("cli"), "--version"], { cwd: folder });
    expect(stdout).toBe(`${version}\n`);
  });

  it("has a command line that explains where an embedded cluster can be started", async () => {
    const env = { ...process.env, TRAINYARD_HOME: join(folder, "home") };
    const started = call(process.execPath, [program("cli"), "cluster", "up"], { cwd: folder, env });
    await expect(started).rejects.toMatchObject({
      stderr: expect.stringContaining("The embedded cluster runs from a checkout of Trainyard"),
    });
  });

  it("has services that start outside of a checkout and name the setting that they lack", async () => {
    const names = readdirSync(join(folder, "node_modules", "@trainyard"));
    const services = names.filter(
      (name) => existsSync(program(name)) && /^(service-|migrate$)/.test(name),
    );
    expect(services).toEqual(expect.arrayContaining(["service-gateway", "migrate"]));
    const starts = services.map((name) =>
      expect(
        call(process.execPath, [program(name)], { cwd: folder, env: {} }),
      ).rejects.toMatchObject({ stderr: expect.stringContaining("TRAINYARD_") }),
    );
    await Promise.all(starts);
  });

  it("contains declarations of its libs that refer to each other", () => {
    const index = join(folder, "node_modules", "@trainyard", "client", "src", "index.d.ts");
    expect(readFileSync(index, "utf8")).toContain('"./client.js"');
  });

  it("is refused for a version without notes in the CHANGELOG", async () => {
    await expect(call(process.execPath, [script, version])).rejects.toMatchObject({
      stderr: expect.stringContaining(`CHANGELOG.md has no section "## ${version}"`),
    });
  });

  it("packs no tests", async () => {
    const kernel = packagesToPublish(repositoryFiles()).filter(
      (one) => one.folder === "libs/kernel",
    );
    expect(kernel).toHaveLength(1);
    const tests = readdirSync(join(folder, "node_modules", "@trainyard"), { recursive: true });
    expect(tests.filter((name) => String(name).includes(".test."))).toEqual([]);
  });
});
