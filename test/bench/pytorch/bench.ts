/**
 * A PyTorchTrial compared with the same training by hand: its steps, on one process and on two, its checkpoints and its
 * start.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  makePythonEnvironment,
  pythonEnvironment,
} from "../../../scripts/lib/python-environment.ts";
import { root } from "../../../scripts/lib/root.ts";
import { type Bar, type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { interleave } from "../support/measure.ts";
import { Training } from "./training.ts";

const stepBar = { id: "step_time_vs_plain", unit: "ms", floor: 0.95, goal: 0.99 };
const tensorsBar = {
  id: "tensor_dataset_step_time_vs_plain",
  unit: "ms",
  floor: null,
  goal: null,
};
const ddpBar = { id: "ddp_vs_torchrun", unit: "ms", floor: 0.9, goal: 0.98 };
const stallBar = { id: "checkpoint_stall_ms", unit: "ms", floor: null, goal: 1 };
const startBar = { id: "first_batch_vs_plain", unit: "ms", floor: null, goal: null };

const scripts = import.meta.dirname;
const processes = 2;

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const environment =
    context.size === "tiny" ? pythonEnvironment() : await makePythonEnvironment(context.say);
  if (environment.python === null) {
    context.say(environment.why);
    return [];
  }
  const folder = mkdtempSync(join(tmpdir(), "trainyard-pytorch-"));
  try {
    const bench = new PytorchBench(context, environment.python, folder);
    return [
      await bench.steps(),
      await bench.tensorSteps(),
      await bench.ddp(),
      await bench.stall(),
      await bench.start(),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Command = readonly [string, ...string[]];
type Commands = { readonly plain: Command; readonly trial: Command; readonly launched: Command };

class PytorchBench {
  readonly #context: BenchContext;
  readonly #python: string;
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #batches: number;
  readonly #commands: Commands;
  /** The milliseconds to the first batch of the trainings whose steps were compared first. */
  #firstBatchesMs: readonly [plain: number, trial: number] | null = null;

  constructor(context: BenchContext, python: string, folder: string) {
    this.#context = context;
    this.#python = python;
    this.#folder = folder;
    const trial = join(scripts, "ours.py");
    this.#commands = {
      plain: [python, join(scripts, "plain.py")],
      trial: [python, trial],
      launched: [python, "-m", "trainyard.launch.torch", trial],
    };
    this.#batches = { tiny: 5, short: 50, full: 100 }[context.size];
    this.#env = {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      PYTHONPATH: `${join(root, "libs", "sdk-python", "src")}:${scripts}`,
      OMP_NUM_THREADS: "1",
      BENCH_DATA: "own",
      BENCH_BLOCK: String(this.#batches),
      BENCH_WIDTH: context.size === "tiny" ? "64" : "1024",
      BENCH_FILE: join(folder, "saved.pt"),
      BENCH_CHECKPOINTS: String({ tiny: 2, short: 9, full: 25 }[context.size]),
    };
  }

  steps(): Promise<BenchResult> {
    const { plain, trial, launched } = this.#commands;
    // At the smallest size these are also the trainings whose start is measured.
    const ours = this.#context.size === "tiny" ? launched : trial;
    return this.#sideBySide(stepBar, "own", plain, ours, "one process");
  }

  tensorSteps(): Promise<BenchResult> {
    const { plain, trial } = this.#commands;
    return this.#sideBySide(tensorsBar, "tensors", plain, trial, "one process, a TensorDataset");
  }

  ddp(): Promise<BenchResult> {
    const torchrun = ["-m", "torch.distributed.run", "--standalone"];
    const ours = ["-m", "trainyard.launch.torch"];
    const count = `--nproc-per-node=${processes}`;
    return this.#sideBySide(
      ddpBar,
      "own",
      [this.#python, ...torchrun, count, join(scripts, "plain.py")],
      [this.#python, ...ours, count, join(scripts, "ours.py")],
      `${processes} processes, gloo`,
    );
  }

  async #sideBySide(
    bar: Bar,
    data: "own" | "tensors",
    plain: Command,
    ours: Command,
    note: string,
  ): Promise<BenchResult> {
    await using byHand = await this.#training(plain, `${bar.id}-plain`, data);
    await using trial = await this.#training(ours, `${bar.id}-ours`, data);
    this.#firstBatchesMs ??= [byHand.firstBatchMs, trial.firstBatchMs];
    const rounds = { tiny: 1, short: 30, full: 60 }[this.#context.size];
    const [theirs, own] = await interleave(
      [
        { name: "by hand", round: () => byHand.block() },
        { name: "PyTorchTrial", round: () => trial.block() },
      ],
      rounds,
      this.#context,
    );
    const ms = (seconds: number): number => (seconds / this.#batches) * 1_000;
    return costResult(bar, ms(own), ms(theirs), `a batch; ${note}`);
  }

  /** Compares the time that a training waits for a checkpoint with that of torch.save. */
  async stall(): Promise<BenchResult> {
    const { stdout } = await promisify(execFile)(this.#python, [join(scripts, "stall.py")], {
      cwd: this.#folder,
      env: { ...this.#env, BENCH_WIDTH: this.#context.size === "tiny" ? "64" : "2048" },
    });
    const last = stdout.trim().split("\n").at(-1) ?? "";
    const found = JSON.parse(last) as { ours: number; plain: number; mebibytes: number };
    const note = `what the loop waits for ${Math.round(found.mebibytes)} MiB, beside torch.save`;
    return costResult(stallBar, found.ours, found.plain, note);
  }

  async start(): Promise<BenchResult> {
    const [theirs, own] = await this.#starts();
    return costResult(
      startBar,
      own,
      theirs,
      "from the spawn to the first batch, launcher included",
    );
  }

  /** Returns the milliseconds to the first batch of a plain script and of a launched trial. */
  async #starts(): Promise<readonly [plain: number, trial: number]> {
    const { size } = this.#context;
    if (size === "tiny" && this.#firstBatchesMs !== null) return this.#firstBatchesMs;
    const first = async (name: string, command: Command): Promise<number> => {
      await using training = await this.#training(command, name);
      return training.firstBatchMs;
    };
    const { plain, launched } = this.#commands;
    return interleave(
      [
        { name: "plain script", round: () => first("start-plain", plain) },
        { name: "launched trial", round: () => first("start-ours", launched) },
      ],
      size === "full" ? 15 : 5,
      this.#context,
    );
  }

  #training(command: Command, name: string, data: "own" | "tensors" = "own"): Promise<Training> {
    return Training.start(command, this.#folder, name, { ...this.#env, BENCH_DATA: data });
  }
}
