// Tests the PyTorch examples locally and at reduced size: their results and files, and their configurations.
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseExperiment } from "@trainyard/experiment-config";
import { isRejection } from "@trainyard/kernel";
import { describe, expect, test } from "vitest";
import { root } from "../../scripts/lib/root.ts";
import { needTorch } from "../world/torch.ts";
import { endOf, linesOf, reportsOf, sdk, startScript } from "./script.ts";

const examples = join(root, "examples");
// A run needs seconds of one core, most of them to import PyTorch; the machine may be busy.
const runMs = 600_000;

type Learned = {
  readonly example: string;
  readonly args: readonly string[];
  /** A metric of the last validation, with the least value that it must have, or the greatest if it is negative. */
  readonly metric: string;
  readonly above?: number;
  readonly below?: number;
};

const learned: readonly Learned[] = [
  { example: "pytorch-images", args: ["epochs=3"], metric: "accuracy", above: 0.8 },
  {
    example: "pytorch-text",
    args: ["epochs=3", "warmup_batches=20", "layers=1"],
    metric: "f1",
    above: 0.75,
  },
  { example: "pytorch-gan", args: ["batches=500"], metric: "distance", below: 3 },
  { example: "pytorch-tabular", args: ["epochs=3"], metric: "validation_loss", below: 0.35 },
];

test.for(learned)(
  "$example learns alone, and leaves a checkpoint",
  { timeout: runMs },
  async (
    { example, args, metric, above = Number.NEGATIVE_INFINITY, below = Number.POSITIVE_INFINITY },
    { skip },
  ) => {
    const python = needTorch(skip);
    const folder = await mkdtemp(join(tmpdir(), `trainyard-${example}-`));
    try {
      const child = startScript(python, join(examples, example, "train.py"), args, {
        PYTHONPATH: sdk,
        TRAINYARD_LOCAL_DIR: folder,
        OMP_NUM_THREADS: "1",
      });
      const lines = linesOf(child);
      const [code] = await once(child, "close");
      expect(code, lines.join("\n")).toBe(0);
      const run = join(folder, "run-1");
      const reports = await reportsOf(run);
      const last = reports.filter(({ group }) => group === "validation").at(-1)?.metrics[metric];
      expect(last).toBeGreaterThan(above);
      expect(last).toBeLessThan(below);
      expect(reports.some(({ group }) => group === "training")).toBe(true);
      expect(await endOf(run)).toBe("END_REASON_FINISHED");
      const kept = await readdir(join(folder, "checkpoints"), { withFileTypes: true });
      expect(kept.filter((entry) => entry.isDirectory()).length).toBeGreaterThan(0);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);

describe("the configurations", () => {
  const parse = async (file: string) => {
    const parsed = parseExperiment(await readFile(join(examples, file), "utf8"), {
      defaults: { checkpoint_storage: { type: "directory", container_path: "/checkpoints" } },
    });
    if (isRejection(parsed)) throw new Error(parsed.detail);
    return parsed;
  };
  const hyperparametersOf = async (file: string): Promise<readonly string[]> => {
    const text = await readFile(join(examples, file), "utf8");
    const [, local = ""] = /LOCAL_HPARAMS = \{(.*?)\n\}/s.exec(text) ?? [];
    return [...local.matchAll(/"(\w+)":/g)].map(([, name = ""]) => name);
  };

  test.for([
    "pytorch-images/single.yaml",
    "pytorch-images/ddp.yaml",
    "pytorch-text/single.yaml",
    "pytorch-gan/single.yaml",
    "pytorch-tabular/search.yaml",
    "fsdp2/four-slots.yaml",
  ])("%s is valid, and has the hyperparameters that its script asks for", async (file) => {
    const { config, warnings } = await parse(file);
    expect(warnings).toEqual([]);
    const [folder = ""] = file.split("/");
    expect(Object.keys(config.hyperparameters).toSorted()).toEqual(
      (await hyperparametersOf(join(folder, "train.py"))).toSorted(),
    );
  });

  test("of ddp.yaml differ from single.yaml in the slots, and divide the batch among them", async () => {
    const [single, ddp] = [
      (await parse("pytorch-images/single.yaml")).config,
      (await parse("pytorch-images/ddp.yaml")).config,
    ];
    const batchOf = ({ hyperparameters }: typeof ddp): number =>
      Number((hyperparameters["batch_size"] as { val?: unknown } | undefined)?.val);
    expect(ddp.resources.slots_per_trial).toBe(4);
    expect(4 * batchOf(ddp)).toBe(batchOf(single));
    const rest = ({ hyperparameters }: typeof ddp) =>
      Object.entries(hyperparameters).filter(([name]) => name !== "batch_size");
    expect(rest(ddp)).toEqual(rest(single));
  });

  test("of pytorch-tabular search with ASHA, with rungs from two epochs on", async () => {
    const { config } = await parse("pytorch-tabular/search.yaml");
    expect(config.searcher).toMatchObject({
      name: "asha",
      max_time: 512,
      min_time: 64,
      divisor: 2,
    });
  });
});
