import { execFileSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import {
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { extract } from "tar";
import { afterAll, beforeAll, beforeEach, describe, expect, it, test, vi } from "vitest";
import { created, requested, trialCreated } from "../../testing/example-events.ts";
import { openBelow, openStream, restOf } from "../../testing/streams.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

/** The content is larger than all buffers between a file and a client that does not read. */
const large = randomBytes(12 * 1024 * 1024);

let gateway: TestGateway;
let registry: AsyncDisposable;
let scratch: string;
/** The name of the gateway's log. */
let log: string;
/** The id of the checkpoint that the registry returns. */
let checkpoint = "";
let manifest: { path: string; bytes: number; sha256: string }[] = [];

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "trainyard-downloads-"));
  gateway = await startTestGateway();
  await gateway.append("experiment-1", created({}));
  const position = await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  await gateway.call("GET", `/api/v1/trials/1.1?minPosition=${position}`);
  log = String((await gateway.call("GET", "/api/v1/version")).body["log"]);
  registry = await gateway.serving("registry", {
    PlanCheckpointDownload: async ({ checkpoint: id }) => ({
      checkpoint: id,
      path: join(gateway.checkpointDir, id),
      store: "",
      manifest: manifest.map((file) => ({ ...file, partSha256: [], md5: "" })),
    }),
  });
});

afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true, force: true });
});

const trialFolder = (): string =>
  join(gateway.checkpointDir, "tensorboard", log, "experiment", "1", "trial", "1.1");

type Kind = { readonly folder: () => string; readonly path: () => string };

const kinds: readonly (readonly [string, Kind])[] = [
  [
    "a checkpoint",
    {
      folder: () => join(gateway.checkpointDir, checkpoint),
      path: () => `/api/v1/checkpoints/${checkpoint}/archive`,
    },
  ],
  ["TensorBoard files", { folder: trialFolder, path: () => "/api/v1/trials/1.1/tensorboard" }],
];

async function write(folder: string, files: Readonly<Record<string, Buffer | string>>) {
  manifest = [];
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
    manifest.push({ path, bytes: Buffer.byteLength(content), sha256: "0".repeat(64) });
  }
}

beforeEach(async () => {
  checkpoint = randomUUID();
  await rm(join(gateway.checkpointDir, "tensorboard"), { recursive: true, force: true });
});

async function expectNothingOpen(folder: string): Promise<void> {
  await vi.waitFor(async () => expect(await openBelow(folder)).toEqual([]), 90_000);
  const other = await gateway.call("GET", "/api/v1/experiments/1");
  expect(other.status).toBe(200);
}

describe.each(kinds)("the download of %s", (_, { folder, path }) => {
  it("has every file unchanged, whatever its name and size", async () => {
    const files = {
      weights: large.subarray(0, 3_000_001),
      empty: "",
      "@at": "a",
      "deep/er/ünï": "b",
      [`${"long/".repeat(60)}${"n".repeat(200)}`]: "c",
    };
    await write(folder(), files);
    const packed = join(scratch, `${randomUUID()}.tar.gz`);
    await writeFile(packed, await restOf(await openStream(gateway, path())));
    const unpacked = await mkdtemp(join(scratch, "unpacked-"));
    await extract({ file: packed, cwd: unpacked, strict: true });
    for (const [name, content] of Object.entries(files)) {
      expect(Buffer.compare(await readFile(join(unpacked, name)), Buffer.from(content))).toBe(0);
    }
    await expectNothingOpen(folder());
  });

  it.each<readonly [string, (file: string, first: string) => Promise<unknown>]>([
    ["vanishes", (file) => rm(file)],
    ["is cut off while it is read", (_file, first) => truncate(first, 10)],
    ["becomes a link to another", (file) => rm(file).then(() => symlink("/etc/hostname", file))],
    ["becomes a pipe", async (file) => rm(file).then(() => execFileSync("mkfifo", [file]))],
    [
      "has a link in its folder's place",
      async (file) => {
        await rename(dirname(file), `${dirname(file)}.moved`);
        await symlink(`${dirname(file)}.moved`, dirname(file));
      },
    ],
  ])("breaks off when a file %s on the way, and breaks nothing else", async (_what, change) => {
    await write(folder(), { "a-first": large, "b/second": "b" });
    const stream = await openStream(gateway, path());
    await change(join(folder(), "b/second"), join(folder(), "a-first"));
    await expect(restOf(stream).then(({ length }) => length)).rejects.toThrow("aborted");
    await expectNothingOpen(folder());
  });

  it("closes its files when the client disconnects in the middle", async () => {
    await write(folder(), { "a-first": large, "b/second": "b" });
    const stream = await openStream(gateway, path());
    await vi.waitFor(async () => expect(await openBelow(folder())).toHaveLength(1), {
      timeout: 90_000,
    });
    stream.destroy();
    await expectNothingOpen(folder());
  });

  it("waits for a client that reads slowly, with one file open at a time", async () => {
    const second = large.subarray(0, 4_000_000);
    await write(folder(), { "a-first": large, "b/second": second, "c/third": "c" });
    const stream = await openStream(gateway, path());
    let bytes = 0;
    let pauses = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes <= pauses * 2_000_000) continue;
      pauses += 1;
      await setTimeout(20);
      expect((await openBelow(folder())).length).toBeLessThanOrEqual(1);
    }
    expect(bytes).toBeGreaterThan(large.length + second.length);
    await expectNothingOpen(folder());
  });
});

describe("a download from a folder that training code writes to", () => {
  const secret = "the key of the cluster";
  const outside = async (): Promise<string> => {
    const folder = await mkdtemp(join(scratch, "outside-"));
    await mkdir(join(folder, "trial", "1.1"), { recursive: true });
    for (const file of ["env", "trial/1.1/env"]) await writeFile(join(folder, file), secret);
    return folder;
  };

  test.each([
    ["the trial's folder", () => trialFolder(), ""],
    ["the experiment's folder", () => dirname(dirname(trialFolder())), ""],
  ])("is not found when a link is in the place of %s", async (_, place) => {
    await mkdir(dirname(place()), { recursive: true });
    await symlink(await outside(), place());
    const answer = await gateway.call("GET", "/api/v1/trials/1.1/tensorboard");
    expect(answer).toMatchObject({ status: 404, body: { code: "tensorboard_not_found" } });
    expect(String(answer.body["detail"])).toContain("link");
  });

  test("has no file behind a symbolic link, whether the file or its folder is linked", async () => {
    const target = await outside();
    await write(trialFolder(), { events: "e" });
    await symlink(join(target, "env"), join(trialFolder(), "env"));
    await symlink(target, join(trialFolder(), "more"));
    const packed = join(scratch, "links.tar.gz");
    await writeFile(packed, await restOf(await openStream(gateway, kinds[1]?.[1].path() ?? "")));
    expect(execFileSync("tar", ["tzf", packed]).toString()).toBe("events\n");
  });

  test("is refused if a link leads to a checkpoint's file or folder", async () => {
    const target = await outside();
    const folder = join(gateway.checkpointDir, checkpoint);
    await write(folder, { "trial/1.1/env": secret, own: "o" });
    const path = `/api/v1/checkpoints/${checkpoint}/archive`;
    await rm(join(folder, "trial"), { recursive: true });
    await symlink(join(target, "trial"), join(folder, "trial"));
    const behind = await gateway.call("GET", path);
    expect(behind).toMatchObject({ status: 409, body: { code: "checkpoint_damaged" } });
    await rm(folder, { recursive: true });
    await symlink(target, folder);
    const moved = await gateway.call("GET", path);
    expect(moved).toMatchObject({ status: 409, body: { code: "checkpoint_damaged" } });
    expect(await openBelow(target)).toEqual([]);
  });
});
