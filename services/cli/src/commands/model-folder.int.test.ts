/** Tests of `yard model register-folder` and its upload program, with a simulated gateway. */
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type PlayedGateway, playGateway, problem } from "../testing/played-gateway.ts";

let folder: string;
let gateway: PlayedGateway;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "trainyard-folder-"));
  await mkdir(join(folder, "model", "deep"), { recursive: true });
  await mkdir(join(folder, "checkpoints"));
  await writeFile(join(folder, "model", "deep", "weights.bin"), "w");
  gateway = await playGateway(({ call, body }) => {
    const path = call.replace(/^\w+ \/api\/v1\//, "");
    if (path === "version") return { body: { version: "1", api: "v1", log: "a-log" } };
    if (path === "models/iris") return { body: { name: "iris" } };
    if (path === "models/iris/versions") {
      const { checkpoint } = body as { readonly checkpoint: string };
      const version = { model: "iris", number: 4, checkpoint, uploadedBy: "ada" };
      return { body: { position: "7", version } };
    }
    if (path === "checkpoints") {
      const { checkpoint } = body as { readonly checkpoint: string };
      return { body: { checkpoint, path: join(folder, "checkpoints", checkpoint) } };
    }
    if (path.endsWith("/complete")) return { body: { position: "6" } };
    if (path.endsWith("/plan")) return problem(404, "checkpoint_not_found", "there is none");
    return problem(404, "model_not_found", "there is no model none");
  });
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const asked = () => gateway.requests.filter(({ call }) => !call.startsWith("GET"));

test("a folder is copied to the storage, completed, and registered with its description and labels", async () => {
  const words = ["--semver", "1.0.0", "--label", "base", "--metadata", "source=hub"];
  const ran = await gateway.yard(
    ...["model", "register-folder", "iris", join(folder, "model")],
    ...words,
  );
  expect(ran).toMatchObject({ code: 0, err: "" });
  expect(ran.out).toContain("is version 4 of iris");
  const stored = (await readdir(join(folder, "checkpoints"))).find((name) => name[0] !== ".");
  const file = join(folder, "checkpoints", stored ?? "", "deep", "weights.bin");
  expect(await readFile(file, "utf8")).toBe("w");
  expect(asked().at(-2)).toMatchObject({
    call: `POST /api/v1/checkpoints/${stored}/complete`,
    body: { manifest: [{ path: "deep/weights.bin", bytes: 1 }] },
  });
  expect(asked().at(-1)?.body).toMatchObject({
    checkpoint: stored,
    semanticVersion: "1.0.0",
    labels: ["base"],
    metadata: { source: "hub" },
  });
});

test("a folder that cannot be uploaded fails with one sentence, and no checkpoint is declared", async () => {
  await symlink("/etc/passwd", join(folder, "model", "stolen"));
  const linked = await gateway.yard("model", "register-folder", "iris", join(folder, "model"));
  expect(linked).toMatchObject({ code: 1 });
  expect(linked.err).toMatch(/^'\S+stolen' is a link out of the folder: .*\.\n$/);
  const none = await gateway.yard("model", "register-folder", "none", folder);
  expect(none.err).toBe("There is no model none.\n");
  const absent = await gateway.yard("model", "register-folder", "iris", join(folder, "absent"));
  expect(absent.err).toMatch(/absent is not a folder\.\n$/);
  expect(asked()).toEqual([]);
});
