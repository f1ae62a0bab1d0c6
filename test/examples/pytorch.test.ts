// Tests the configurations of the PyTorch examples. libs/sdk-python/tests/torch/test_learning_examples.py runs them.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseExperiment } from "@trainyard/experiment-config";
import { isRejection } from "@trainyard/kernel";
import { describe, expect, test } from "vitest";
import { root } from "../../scripts/lib/root.ts";

const examples = join(root, "examples");

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
