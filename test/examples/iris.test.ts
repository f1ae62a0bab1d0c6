// Tests examples/iris without a cluster: its configurations, the result of a local run, and its behaviour when it is
// killed or asked to stop.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { json } from "node:stream/consumers";
import { parseExperiment } from "@trainyard/experiment-config";
import { isRejection } from "@trainyard/kernel";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { endOf, linesOf, type Report, reportsOf, sdk, startScript } from "./script.ts";

const example = join(import.meta.dirname, "..", "..", "examples", "iris");
// A run takes less than a second of one core; the machine may be busy.
const runMs = 600_000;

let folder: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "trainyard-iris-"));
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

function start(args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = startScript("python3", join(example, "train.py"), args, env);
  children.push(child);
  return child;
}

async function runAlone(localDir: string, args: readonly string[] = []): Promise<string[]> {
  const child = start(args, { TRAINYARD_LOCAL_DIR: localDir });
  const lines = linesOf(child);
  const [code] = await once(child, "close");
  expect(code).toBe(0);
  return lines;
}

const validationsOf = async (runDir: string) =>
  (await reportsOf(runDir)).filter(({ group }) => group === "validation");

describe("the configurations", () => {
  const parse = async (file: string, folder = example) => {
    const parsed = parseExperiment(await readFile(join(folder, file), "utf8"), {
      defaults: { checkpoint_storage: { type: "directory", container_path: "/checkpoints" } },
    });
    if (isRejection(parsed)) throw new Error(parsed.detail);
    return parsed;
  };

  test("contain search.yaml, a search of 16 trials over four hyperparameters with early stopping", async () => {
    const { config, warnings } = await parse("search.yaml");
    expect(warnings).toEqual([]);
    // The demo continues with an unfinished experiment of this name.
    expect(config.name).toBe("iris");
    expect(config.searcher).toMatchObject({ name: "adaptive_asha", max_trials: 16 });
    expect(config.early_stopping).toMatchObject([{ name: "not_finite" }, { patience: 12 }]);
    expect(config.searcher.metric).toBe("validation_loss");
    expect(config.hyperparameters).toMatchObject({
      learning_rate: { type: "log" },
      hidden_units: { type: "int" },
      momentum: { type: "double" },
      batch_size: { type: "categorical" },
    });
  });

  test("of custom-search train the same network, with a search of their own", async () => {
    const { config, warnings } = await parse("search.yaml", join(example, "..", "custom-search"));
    expect(warnings).toEqual([]);
    expect(config.searcher).toMatchObject({ name: "custom", max_trials: 9 });
    const { hyperparameters } = (await parse("search.yaml")).config;
    expect(Object.keys(config.hyperparameters)).toEqual(Object.keys(hyperparameters));
  });

  test("contain population.yaml, which changes only hyperparameters that leave the network's shape unchanged", async () => {
    const { config, warnings } = await parse("population.yaml");
    expect(warnings).toEqual([]);
    expect(config.searcher).toMatchObject({ name: "pbt", population_size: 6, interval: 8 });
    const { hidden_units, epochs, checkpoint_epochs } = config.hyperparameters;
    expect([hidden_units, epochs, checkpoint_epochs].map((one) => one?.type)).toEqual(
      Array(3).fill("const"),
    );
  });

  test("contain single.yaml, which is one training", async () => {
    const { config, warnings } = await parse("single.yaml");
    expect(warnings).toEqual([]);
    expect(config.searcher.name).toBe("single");
  });
});

describe("alone", () => {
  test("learns the species in one short run", { timeout: runMs }, async () => {
    await runAlone(folder);
    const run = join(folder, "run-1");
    const validations = await validationsOf(run);
    expect(validations.map(({ stepsCompleted }) => stepsCompleted)).toEqual(
      Array.from({ length: 40 }, (_, n) => n + 1),
    );
    expect(validations.at(-1)?.metrics["validation_accuracy"]).toBeGreaterThanOrEqual(0.9);
    expect(validations.at(-1)?.metrics["held_out_accuracy"]).toBeGreaterThanOrEqual(0.9);
    expect(await endOf(run)).toBe("END_REASON_FINISHED");
    const checkpoints = await readdir(join(folder, "checkpoints"), { withFileTypes: true });
    expect(checkpoints.filter((entry) => entry.isDirectory())).toHaveLength(4);
  });

  test("ends with the same result when it is killed and restored", {
    timeout: 2 * runMs,
  }, async () => {
    const calm = join(folder, "calm");
    const killed = join(folder, "killed");
    await runAlone(calm, ["epochs=200"]);

    // The number of epochs is so large that the run cannot end before the kill.
    const child = start(["epochs=1000000"], { TRAINYARD_LOCAL_DIR: killed });
    if (child.stdout === null) throw new Error("the run has no output");
    for await (const line of createInterface(child.stdout)) {
      if (line.startsWith("epoch 10:")) child.kill("SIGKILL");
    }
    const lines = await runAlone(killed, ["epochs=200"]);

    const done = Number(/(\d+) of 200 epochs done/.exec(lines[0] ?? "")?.[1]);
    expect(done).toBeGreaterThanOrEqual(10);
    const [whole, rest] = [
      await validationsOf(join(calm, "run-1")),
      await validationsOf(join(killed, "run-2")),
    ];
    const plain = ({ stepsCompleted, metrics }: Report) => ({ stepsCompleted, metrics });
    expect(rest.map(plain)).toEqual(whole.slice(done).map(plain));
  });
});

describe("in a task", () => {
  let platform: Server;
  const completed: unknown[] = [];

  beforeEach(async () => {
    completed.splice(0);
    platform = createServer((request, response) => {
      const answering = (async () => {
        const body = request.method === "POST" ? await json(request) : {};
        const answer = answerTo(request.url ?? "", body as Record<string, unknown>);
        response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
      })();
      answering.catch((error: unknown) => response.destroy(error as Error));
    }).listen(0, "127.0.0.1");
    await once(platform, "listening");
  });

  afterEach(() => {
    platform.closeAllConnections();
    platform.close();
  });

  /** A platform that asks the run to stop from the start. */
  function answerTo(url: string, body: Record<string, unknown>): unknown {
    if (url.includes("/signals")) return { stop: true, why: "pause" };
    if (url.endsWith("/reports")) return { accepted: (body["reports"] as unknown[]).length };
    if (url.endsWith("/complete")) {
      completed.push(body["manifest"]);
      return { position: "1" };
    }
    const checkpoint = String(body["checkpoint"]);
    return { checkpoint, path: join(folder, "checkpoints", checkpoint) };
  }

  test("saves a checkpoint and returns when it is asked to stop", { timeout: runMs }, async () => {
    const address = `http://127.0.0.1:${(platform.address() as AddressInfo).port}`;
    const runDir = join(folder, "run");
    const hparams = {
      learning_rate: 0.03,
      hidden_units: 4,
      momentum: 0.5,
      batch_size: 8,
      epochs: 1_000_000,
      checkpoint_epochs: 1_000_000,
    };
    const child = start([], {
      PYTHONPATH: sdk,
      TRAINYARD_URL: address,
      TRAINYARD_METRICS_URL: address,
      TRAINYARD_TOKEN: "ty1.test",
      TRAINYARD_EXPERIMENT_ID: "12",
      TRAINYARD_TRIAL_ID: "12.3",
      TRAINYARD_RUN: "1",
      TRAINYARD_TRIAL_SEED: "7",
      TRAINYARD_HPARAMS: JSON.stringify(hparams),
      TRAINYARD_CONFIG: "{}",
      TRAINYARD_LATEST_CHECKPOINT: "",
      TRAINYARD_STEPS_COMPLETED: "0",
      TRAINYARD_RUN_DIR: runDir,
    });
    const lines = linesOf(child);
    expect((await once(child, "close"))[0]).toBe(0);
    const reached = (await validationsOf(runDir)).length;
    expect(lines.at(-1)).toBe(`asked to stop (pause), saved at epoch ${reached}`);
    expect(await endOf(runDir)).toBe("END_REASON_ACKNOWLEDGED_STOP");
    expect(completed).toEqual([
      expect.arrayContaining([expect.objectContaining({ path: "network.json" })]),
    ]);
  });
});
