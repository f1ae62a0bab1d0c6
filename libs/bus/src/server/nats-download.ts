/** The two sources to download a nats-server from. Nothing is installed, and no service is started. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch, platform } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { busLimits } from "../limits.ts";
import { arMembers } from "./ar-archive.ts";
import { checkNatsServer } from "./nats-version.ts";

const run = promisify(execFile);

/** Runs `apt-get download`, which needs no root; package lists are updated only if that is permitted. */
export async function fetchFromDistribution(folder: string): Promise<string> {
  await downloadPackage(folder).catch(async (error: unknown) => {
    if (process.getuid?.() !== 0) throw error;
    await command("apt-get", ["update", "-qq"], folder);
    await downloadPackage(folder);
  });
  const packageFile = readdirSync(folder).find((name) => name.endsWith(".deb"));
  if (packageFile === undefined) throw new Error("apt-get downloaded no nats-server package");
  await unpackPackage(join(folder, packageFile), folder);
  return await checked(join(folder, "usr/sbin/nats-server"));
}

async function downloadPackage(folder: string): Promise<void> {
  await command("apt-get", ["download", "-qq", "nats-server"], folder);
}

/** Unpacks with dpkg-deb, or if that is missing with tar: a package is an `ar` archive with a tar file inside. */
export async function unpackPackage(packageFile: string, folder: string): Promise<void> {
  try {
    await command("dpkg-deb", ["-x", packageFile, folder], folder);
    return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  await unpackPackageByHand(packageFile, folder);
}

export async function unpackPackageByHand(packageFile: string, folder: string): Promise<void> {
  const data = arMembers(readFileSync(packageFile)).find(({ name }) => name.startsWith("data.tar"));
  if (data === undefined) throw new Error(`${packageFile} is not a Debian package`);
  const tarFile = join(folder, data.name);
  writeFileSync(tarFile, data.content);
  await command("tar", ["-xf", tarFile, "-C", folder], folder);
}

const release = {
  version: "2.12.5",
  /** The SHA-256 of the release's files, as pinned by the official container image. */
  digests: {
    x64: {
      name: "amd64",
      sha256: "f1967bea3fbf6c86273f1a2edf5be65165d795716ae1ac2a14824f19cdc35c20",
    },
    arm64: {
      name: "arm64",
      sha256: "85caf0500b011a31b105fb04992cb350236e2d5935a4d2ea7cc1efe9203aafc2",
    },
  } as Readonly<Record<string, { readonly name: string; readonly sha256: string }>>,
};

export async function fetchFromRelease(folder: string): Promise<string> {
  const machine = release.digests[arch()];
  if (machine === undefined || platform() !== "linux") {
    throw new Error(`no nats-server release is pinned for ${platform()} on ${arch()}`);
  }
  const name = `nats-server-v${release.version}-linux-${machine.name}`;
  const url = `https://github.com/nats-io/nats-server/releases/download/v${release.version}/${name}.tar.gz`;
  const response = await fetch(url, { signal: AbortSignal.timeout(busLimits.downloadMs) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  const archive = Buffer.from(await response.arrayBuffer());
  return await unpackRelease(archive, machine.sha256, name, folder);
}

/** Unpacks an archive; throws if its SHA-256 differs. */
export async function unpackRelease(
  archive: Uint8Array,
  sha256: string,
  name: string,
  folder: string,
): Promise<string> {
  const digest = createHash("sha256").update(archive).digest("hex");
  if (digest !== sha256) throw new Error(`the download's SHA-256 is ${digest}, not ${sha256}`);
  const archiveFile = join(folder, "release.tar.gz");
  writeFileSync(archiveFile, archive);
  await command("tar", ["-xzf", archiveFile, "-C", folder], folder);
  return await checked(join(folder, name, "nats-server"));
}

/** Returns the path after a check that the file runs on this machine and is new enough. */
async function checked(path: string): Promise<string> {
  chmodSync(path, 0o755);
  await checkNatsServer(path);
  return path;
}

async function command(program: string, args: readonly string[], cwd: string): Promise<void> {
  await run(program, args, { cwd, timeout: busLimits.downloadMs });
}
