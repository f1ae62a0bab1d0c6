import { randomUUID } from "node:crypto";
import {
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { gzipSync } from "node:zlib";
import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
import {
  type DeviceKind,
  recordedConfig,
  recordedContainer,
  recordedPlace,
} from "@trainyard/experiment-config/recorded";
import { systemClock } from "@trainyard/kernel/system-clock";
import { create, Header } from "tar";
import { RunFolder } from "../state/run-folder.ts";

const folders: string[] = [];

/** Makes a folder that `removeFolders` removes, which every test file calls after all of its tests. */
export function newFolder(): string {
  // Podman allows 50 characters in the path of its folder `runroot`.
  const folder = mkdtempSync(join(tmpdir(), "ty-agent-"));
  folders.push(folder);
  return folder;
}

export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** Null for a folder without a recorded launch. */
export function runAt(path: string): RunFolder | null {
  return RunFolder.open(path, systemClock);
}

let trials = 0;

/** A launch of a new trial. */
export function launchOf(
  entrypoint: string | readonly string[],
  more: Partial<Plain<Launch>> = {},
): Plain<Launch> {
  trials += 1;
  return {
    allocation: `7.${trials}#1`,
    requestId: randomUUID(),
    experiment: "7",
    trial: `7.${trials}`,
    run: 1,
    grantPosition: "12",
    traceparent: "",
    token: "ty1.1.x.12.y",
    log: "00000000-0000-7000-8000-000000000001",
    entrypoint:
      typeof entrypoint === "string"
        ? { case: "shell", value: entrypoint }
        : { case: "command", value: { arguments: [...entrypoint] } },
    hyperparameters: { lr: 0.5 },
    ...configured({ name: "example" }),
    trialSeed: 4_000_000_000,
    latestCheckpoint: "",
    stepsCompleted: 0,
    contextDigest: "",
    environmentVariables: [],
    slots: ["0", "1"],
    nodeRank: 0,
    nodes: 1,
    masterAddress: "127.0.0.1",
    masterPort: 20_001,
    nodeAddresses: ["127.0.0.1"],
    ...more,
  };
}

let tasks = 0;

/** A launch of a new task. */
export function taskOf(
  kind: "command" | "shell" | "notebook" | "tensorboard",
  entrypoint: string | readonly string[] = "",
  more: Partial<Plain<Launch>> = {},
): Plain<Launch> {
  tasks += 1;
  const id = `t${tasks}`;
  const task = { id, kind, secret: `secret of ${id}` };
  return launchOf(entrypoint, { allocation: `${id}#1`, experiment: "", trial: "", task, ...more });
}

/** The parts of a launch that the scheduler reads in a configuration. */
export function configured(config: object, device: DeviceKind = "cpu") {
  const recorded = recordedConfig(config);
  const { tensorboard_storage: tensorboards } = recorded;
  return {
    config: JSON.stringify(config),
    checkpointStorage: recordedPlace(recorded.checkpoint_storage),
    ...(tensorboards === undefined ? {} : { tensorboardStorage: recordedPlace(tensorboards) }),
    container: recordedContainer(config, device),
    proxyPorts: [],
    searchNeedsMetric: false,
  } satisfies Partial<Plain<Launch>>;
}

/** Packs files, given by path. */
export async function packed(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const folder = newFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const file = join(newFolder(), "context.tar.gz");
  const stream = create({ cwd: folder, gzip: true, portable: true }, Object.keys(files));
  await pipeline(stream, createWriteStream(file));
  return readFileSync(file);
}

type Entry = {
  readonly path: string;
  readonly type?: "File" | "SymbolicLink" | "Link";
  readonly linkpath?: string;
  readonly text?: string;
  readonly mode?: number;
};

/** Makes archives that no packer would make. */
export function handmade(entries: readonly Entry[]): Buffer {
  const blocks = entries.map(({ path, type = "File", linkpath = "", text = "", mode = 0o644 }) => {
    const header = new Header({ path, type, linkpath, size: text.length, mode });
    const block = Buffer.alloc(512);
    header.encode(block);
    const body = Buffer.alloc(Math.ceil(text.length / 512) * 512);
    body.write(text);
    return Buffer.concat([block, body]);
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}
