import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { arMembers } from "./ar-archive.ts";
import { type NatsBinaryOptions, type NatsSource, natsServerBinary } from "./nats-binary.ts";
import { unpackPackageByHand, unpackRelease } from "./nats-download.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "trainyard-nats-binary-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const script = "#!/bin/sh\necho nats-server: v2.9.10\n";

function program(path: string, text = script): string {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

const source = (name: string, fetch: NatsSource["fetch"]): NatsSource => ({ name, fetch });
const failing = (name: string): NatsSource =>
  source(name, async () => {
    throw new Error(`${name} is out of reach\nand more`);
  });

/** Searches as if no server were installed on the machine. */
const find = (options: Partial<NatsBinaryOptions>): Promise<string> =>
  natsServerBinary({ cacheDir: folder, env: {}, systemFolders: [], ...options });

describe("finding a nats-server", () => {
  test("the environment variable comes first, and a wrong value is reported", async () => {
    const named = program(join(folder, "mine"));
    const cacheDir = join(folder, "cache");
    program(join(cacheDir, "nats-server/nats-server"));
    const env = (path: string) => ({ TRAINYARD_NATS_SERVER: path, PATH: "" });
    expect(await find({ cacheDir, env: env(named) })).toBe(named);
    await expect(find({ cacheDir, env: env(join(folder, "absent")) })).rejects.toMatchObject({
      code: "no_nats_server",
      message: expect.stringContaining("TRAINYARD_NATS_SERVER names no usable nats-server"),
    });
  });

  test("PATH comes second, without folders, files that cannot run, other programs and old versions", async () => {
    mkdirSync(join(folder, "a/nats-server"), { recursive: true });
    mkdirSync(join(folder, "b"));
    writeFileSync(join(folder, "b/nats-server"), "not executable", { mode: 0o644 });
    program(join(folder, "old/nats-server"), script.replace("v2.9.10", "v2.7.4"));
    program(join(folder, "other/nats-server"), "#!/bin/sh\necho something else\n");
    const found = program(join(folder, "c/nats-server"));
    const path = ["a", "b", "old", "other", "c"].map((name) => join(folder, name)).join(":");
    expect(await find({ env: { PATH: path } })).toBe(found);
  });

  test("the cache comes third, without a download", async () => {
    const cached = program(join(folder, "nats-server/nats-server"));
    expect(await find({ sources: [] })).toBe(cached);
  });

  test("the sources come last, in order, and the result is cached", async () => {
    const lines: string[] = [];
    const second = source("second", async (draft) => program(join(draft, "deep/nats-server")));
    const options = { onProgress: (line: string) => void lines.push(line) };
    const found = await find({ ...options, sources: [failing("first"), second] });
    expect(found).toBe(join(folder, "nats-server/nats-server"));
    expect(readFileSync(found, "utf8")).toBe(script);
    expect(readdirSync(join(folder, "nats-server"))).toEqual(["nats-server"]);
    expect(lines).toEqual(["fetching nats-server from first", "fetching nats-server from second"]);
    expect(await find({ ...options, sources: [] })).toBe(found);
  });

  test("concurrent searches produce one complete file", async () => {
    const slow = source("slow", async (draft) => {
      await new Promise((done) => setImmediate(done));
      return program(join(draft, "nats-server"));
    });
    const options = { sources: [slow] };
    const found = await Promise.all(Array.from({ length: 8 }, () => find(options)));
    expect(new Set(found)).toEqual(new Set([join(folder, "nats-server/nats-server")]));
    expect(readdirSync(join(folder, "nats-server"))).toEqual(["nats-server"]);
  });

  test("if all sources fail, the error is one sentence that names the remedy", async () => {
    const options = { sources: [failing("one"), failing("two")] };
    const error = await find(options).then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code: "no_nats_server", retry: "never" });
    const { message } = error as Error;
    expect(message).toContain("one: one is out of reach; two: two is out of reach");
    expect(message).toContain("TRAINYARD_NATS_SERVER");
    expect(message).not.toContain("\n");
  });
});

describe("unpacking a nats-server", () => {
  test("a Debian package is unpacked without dpkg-deb", async () => {
    mkdirSync(join(folder, "tree/usr/sbin"), { recursive: true });
    program(join(folder, "tree/usr/sbin/nats-server"));
    execFileSync("tar", ["-czf", join(folder, "data.tar.gz"), "-C", join(folder, "tree"), "."]);
    const packageFile = join(folder, "nats-server.deb");
    const member = (name: string, content: Buffer): Buffer => {
      const header = `${name.padEnd(16)}${"0".padEnd(12)}${"0".padEnd(6)}${"0".padEnd(6)}${"100644".padEnd(8)}${String(content.length).padEnd(10)}\`\n`;
      return Buffer.concat([
        Buffer.from(header),
        content,
        Buffer.from(content.length % 2 === 1 ? "\n" : ""),
      ]);
    };
    writeFileSync(
      packageFile,
      Buffer.concat([
        Buffer.from("!<arch>\n"),
        member("debian-binary/", Buffer.from("2.0")),
        member("data.tar.gz/", readFileSync(join(folder, "data.tar.gz"))),
      ]),
    );
    const target = join(folder, "target");
    mkdirSync(target);
    await unpackPackageByHand(packageFile, target);
    expect(readFileSync(join(target, "usr/sbin/nats-server"), "utf8")).toBe(script);
  });

  test("an invalid archive has no members, and a truncated archive has no partial member", () => {
    expect(arMembers(Buffer.from("<html>not found</html>"))).toEqual([]);
    const cut = `!<arch>\n${"data.tar".padEnd(48)}${"100".padEnd(10)}\`\nabc`;
    expect(arMembers(Buffer.from(cut))).toEqual([]);
  });

  test("a release is unpacked only with the pinned SHA-256", async () => {
    const name = "nats-server-v0.0.0-linux-amd64";
    program(join(folder, name, "nats-server"));
    execFileSync("tar", ["-czf", join(folder, "r.tar.gz"), "-C", folder, name]);
    const archive = readFileSync(join(folder, "r.tar.gz"));
    const sha256 = createHash("sha256").update(archive).digest("hex");
    const target = join(folder, "target");
    mkdirSync(target);
    expect(await unpackRelease(archive, sha256, name, target)).toBe(
      join(target, name, "nats-server"),
    );
    const touched = Buffer.from(archive);
    touched[touched.length - 1] = (touched.at(-1) ?? 0) ^ 1;
    await expect(unpackRelease(touched, sha256, name, target)).rejects.toThrow(/SHA-256/);
  });
});
