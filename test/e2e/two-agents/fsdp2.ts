// examples/fsdp2 on a cluster: one network sharded over the slots of two agents, its checkpoints in shards of all of
// them.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../../scripts/lib/root.ts";
import { needTorch } from "../../world/torch.ts";
import { world } from "./cluster.ts";

const example = join(root, "examples", "fsdp2");
// Four processes load PyTorch, on a machine that may be busy.
const runMs = 600_000;

test("a sharded network trains over two agents, and its checkpoint has the shards of every rank", {
  timeout: runMs,
}, async ({ skip }) => {
  needTorch(skip);
  const config = await readFile(join(example, "four-slots.yaml"), "utf8");
  const id = await world.submit(config.replace("steps: 60", "steps: 10"), example);
  expect(await world.end(id)).toBe("COMPLETED");
  const { out } = await world.yard("trial", "describe", `${id}.1`);
  const [, checkpoint = ""] = /^checkpoint +(\S+)$/m.exec(out) ?? [];
  const folder = await mkdtemp(join(tmpdir(), "trainyard-fsdp2-"));
  try {
    const got = await world.yard("checkpoint", "download", checkpoint, join(folder, "all"));
    expect(got).toMatchObject({ code: 0 });
    expect(await readdir(join(folder, "all"))).toEqual(
      expect.arrayContaining([".metadata", ...[0, 1, 2, 3].map((rank) => `__${rank}_0.distcp`)]),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
