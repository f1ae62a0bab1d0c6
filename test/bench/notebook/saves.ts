/**
 * A save of a notebook's folder in an object store after one small file has changed, beside the save of all its files:
 * from the start of the program that saves until the platform has completed the save.
 */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@trainyard/client";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { interleave } from "../support/measure.ts";
import { writeFolder } from "./folder.ts";
import { agentName, endNotebooks, notebookCluster, startNotebook } from "./notebooks.ts";

const bar = { id: "save_one_of_1gb_vs_all", unit: "s", floor: null, goal: 10 };
const mebibyte = 1_024 ** 2;
const sizes = {
  tiny: { folder: { large: 2, bytes: 9 * mebibyte, small: 20 }, rounds: 1 },
  short: { folder: { large: 16, bytes: 64 * mebibyte, small: 500 }, rounds: 3 },
  full: { folder: { large: 16, bytes: 64 * mebibyte, small: 500 }, rounds: 9 },
};
const workSeconds = 1;
const lookMs = 10;
const waitMs = 120_000;

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  if (!context.wants(bar.id)) return [];
  const { folder, rounds } = sizes[context.size];
  await using notebooks = await notebookCluster(context, { objectStore: true, workSeconds });
  if (notebooks === null) return [];
  const { cluster, client, info } = notebooks;
  const endpoint_url = cluster.store().url;
  const checkpoint_storage = { type: "s3", bucket: "bench", prefix: "notebook", endpoint_url };
  const task = await startNotebook(client, { checkpoint_storage });
  const agent = info.processes.find(({ name }) => name === agentName)?.pid ?? 0;
  const saves = new Saves(client, task, agent);
  const kept = keptFolder(cluster.home, task);
  const drafts = join(cluster.home, "bench");
  let version = 0;
  const changed = async (): Promise<number> => {
    version += 1;
    await saves.quiet();
    return saves.seconds(() => writeFileSync(join(kept, "data", "small-7.txt"), `${version}\n`));
  };
  const all = async (): Promise<number> => {
    version += 1;
    await writeFolder(drafts, { ...folder, version });
    // Renamed as a whole between two saves, so that a save has all of the files.
    const data = join(kept, "data");
    await saves.quiet();
    const seconds = await saves.seconds(() => {
      rmSync(data, { recursive: true, force: true });
      renameSync(drafts, data);
    });
    // After its first save a folder has no earlier content, which the next save would remove from the agent.
    await changed();
    return seconds;
  };
  // The save of one change comes after that of all.
  const [whole, one] = await interleave(
    [
      { name: "all files", round: all },
      { name: "one small file", round: changed },
    ],
    rounds,
    context,
  );
  await endNotebooks(client, [task]);
  const files = `${folder.large} files of ${folder.bytes / mebibyte} MiB and ${folder.small} small ones`;
  return [costResult(bar, one, whole, `${files}; from the start of the save until it is complete`)];
}

/** The folder of a task's run on the agent. */
function keptFolder(home: string, task: string): string {
  const runs = join(home, "agents", agentName, "runs");
  const run = readdirSync(runs).find((name) => name.startsWith(`${task}+`)) ?? "";
  return join(runs, run, "work", "kept");
}

/** The saves of one task, whose program is the only one of its kind on the agent. */
class Saves {
  readonly #client: Client;
  readonly #task: string;
  readonly #agent: number;

  constructor(client: Client, task: string, agent: number) {
    this.#client = client;
    this.#task = task;
    this.#agent = agent;
  }

  /** Waits until a save has found nothing new, so that none is under way. */
  async quiet(): Promise<void> {
    for (;;) {
      const before = await this.#complete();
      await this.#program(true);
      await this.#program(false);
      // A save that was made is declared by then.
      await delay(300);
      const after = await this.#saves();
      const isComplete = after.every(({ state }) => state !== "ACTIVE");
      if (isComplete && after.length === before.all) return;
    }
  }

  /** Returns the seconds from the start of the save that follows the change until it is complete. */
  async seconds(change: () => void): Promise<number> {
    const before = await this.#complete();
    change();
    await this.#program(true);
    const start = performance.now();
    const deadlineMs = start + waitMs;
    while ((await this.#complete()).ever === before.ever) {
      if (performance.now() > deadlineMs) throw new Error(`${this.#task} was not saved`);
      await delay(lookMs);
    }
    return (performance.now() - start) / 1_000;
  }

  /** Counts the saves, and those that were complete once: old ones are deleted. */
  async #complete(): Promise<{ readonly all: number; readonly ever: number }> {
    const saves = await this.#saves();
    const ever = saves.filter(({ completedAtMs }) => completedAtMs !== undefined);
    return { all: saves.length, ever: ever.length };
  }

  async #saves() {
    const { items } = await this.#client.call("listCheckpoints", {
      task: this.#task,
      pageSize: 100,
    });
    return items;
  }

  /** Waits until the agent's program that saves runs, or does not. */
  async #program(runs: boolean): Promise<void> {
    const deadlineMs = performance.now() + waitMs;
    while (savesNow(this.#agent) !== runs) {
      if (performance.now() > deadlineMs)
        throw new Error(`the folder of ${this.#task} is not saved`);
      await delay(lookMs);
    }
  }
}

function savesNow(agent: number): boolean {
  const children = readFileSync(`/proc/${agent}/task/${agent}/children`, "utf8").trim();
  return children.split(" ").some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("trainyard._work._save");
    } catch {
      return false;
    }
  });
}
