// Tests an experiment that a Python process submits: it equals the one that the command line would create.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { checkout } from "@trainyard/local-cluster";
import { expect, test } from "vitest";
import { world } from "./cluster.ts";

const slowMs = 300_000;

async function python(script: string): Promise<unknown> {
  const { api, token } = world.access;
  const { stdout } = await promisify(execFile)("python3", ["-c", script], {
    cwd: world.folder,
    env: {
      PATH: process.env["PATH"],
      TY_TEST_RUN: process.env["TY_TEST_RUN"],
      PYTHONPATH: join(checkout, "libs", "sdk-python", "src"),
      PYTHONDONTWRITEBYTECODE: "1",
      TRAINYARD_URL: api,
      TRAINYARD_TOKEN: token,
    },
  });
  return JSON.parse(stdout);
}

const config = `
name: from-python
entrypoint: python3 train.py
hyperparameters: { steps: 3 }
searcher: { name: single, metric: loss }
reproducibility: { experiment_seed: 7 }
optimizations: { aggregation_frequency: 2 }
`;

const train = `
import trainyard

with trainyard.init() as ctx:
    for step in range(1, ctx.info.hparams["steps"] + 1):
        ctx.train.report_validation_metrics(step, {"loss": 1 / step})
        with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _):
            (path / "step.txt").write_text(str(step))
`;

test("an experiment that Python submits equals the one that the command line submits", {
  timeout: slowMs,
}, async () => {
  world.write("config.yaml", config);
  world.write("code/train.py", train);
  world.write("code/data/größe.txt", "x");
  world.write("code/big.log", "left out");
  world.write("code/.detignore", "*.LOG\n");
  const ours = await world.submit(config, "code", "--paused");
  const theirs = (await python(`
import json
from trainyard import client
first = client.create_experiment("config.yaml", "code", key="once")
again = client.create_experiment("config.yaml", "code", key="once")
ended = first.wait(timeout_s=200)
print(json.dumps([first.id, again.id, ended.state, ended.best_value, first.warnings]))
`)) as readonly unknown[];
  expect(theirs).toEqual([
    theirs[0],
    theirs[0],
    "COMPLETED",
    1 / 3,
    [expect.stringContaining("optimizations")],
  ]);
  const experiment = String(theirs[0]);
  const diff = await world.client.call("diffExperiments", { experiment: ours, other: experiment });
  expect(diff).toMatchObject({ config: [], files: [], configText: "" });
  const { items } = await world.client.call("listCheckpoints", { experiment });
  expect(items.length).toBeGreaterThan(0);
});

test("a refusal names the keys in Python, and creates nothing", { timeout: slowMs }, async () => {
  world.write("code/train.py", train);
  const answer = await python(`
import json
from trainyard import client
said = []
for config in ({"name": "a"}, {"name": "a", "entrypoint": "x", "searcher": {"name": "singl", "metric": "loss"}}):
    for call in (client.validate, lambda one: client.create_experiment(one, "code")):
        try:
            call(config)
        except client.ApiError as error:
            said.append([error.code, [path for path, _ in error.problems]])
print(json.dumps(said))
`);
  const missing = ["invalid_config", ["searcher", "entrypoint"]];
  const misspelt = ["invalid_config", ["searcher.name"]];
  expect(answer).toEqual([missing, missing, misspelt, misspelt]);
  const { items } = await world.client.call("listExperiments", {});
  expect(items.filter(({ name }) => name === "a")).toEqual([]);
});
