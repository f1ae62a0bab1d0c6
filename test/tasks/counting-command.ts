/** Commands that print numbers until they are let go; their log must have each number once, in order. */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Plain } from "@trainyard/contracts";
import type { Task } from "@trainyard/contracts/api";
import { eventually } from "../world/eventually.ts";
import type { Said, World } from "../world/world.ts";

const program = join(import.meta.dirname, "programs", "count.py");
const endMs = 120_000;

export class CountingCommand {
  readonly task: string;
  readonly #world: World;
  readonly #go: string;
  /** The output and exit code of `yard cmd run -f`. */
  readonly #followed: Promise<Said> | null;
  #code = 0;

  private constructor(world: World, task: string, go: string, followed: Promise<Said> | null) {
    this.#world = world;
    this.task = task;
    this.#go = go;
    this.#followed = followed;
  }

  /** `overrides` are settings such as resources.slots=1. Returns when the command has printed. */
  static async start(
    world: World,
    name: string,
    overrides: readonly string[],
  ): Promise<CountingCommand> {
    const go = join(world.folder, `go-${name}`);
    const request = {
      kind: "command",
      command: ["python3", program, go],
      overrides: [...overrides],
    };
    const { task } = await world.client.call("createTask", request, { idempotencyKey: name });
    const command = new CountingCommand(world, task?.id ?? "", go, null);
    await command.#untilPrinting();
    return command;
  }

  /** Starts it with `yard cmd run -f`, which follows it through all troubles. */
  static async startFollowed(
    world: World,
    name: string,
    overrides: readonly string[],
  ): Promise<CountingCommand> {
    const go = join(world.folder, `go-${name}`);
    const options = [...overrides, `name=${name}`].flatMap((one) => ["--set", one]);
    const words = ["cmd", "run", "-f", ...options, "--", "python3", program, go];
    const followed = world.yard(...words);
    let task = "";
    await eventually(`${name} is created`, async () => {
      const { items } = await world.client.call("listTasks", { filter: `name = ${name}` });
      task = items[0]?.id ?? "";
      return task !== "";
    });
    const command = new CountingCommand(world, task, go, followed);
    await command.#untilPrinting();
    return command;
  }

  /** Lets it end with the exit code. */
  end(code: number): void {
    this.#code = code;
    writeFileSync(`${this.#go}.new`, String(code));
    renameSync(`${this.#go}.new`, this.#go);
  }

  /** A sentence for each violation, once it has ended. */
  async violations(): Promise<readonly string[]> {
    const wanted = this.#code === 0 ? "COMPLETED" : "ERROR";
    const found = [...(await endViolations(this.#world, this.task, wanted, this.#code))];
    let problem = "";
    const isWhole = async (): Promise<boolean> => {
      problem = problemOf(await linesOf(this.#world, this.task));
      return problem === "";
    };
    await eventually("all lines are stored", isWhole, endMs).catch(() => {
      found.push(`the log of ${this.task} ${problem}`);
    });
    if (this.#followed !== null) found.push(...this.#followViolations(await this.#followed));
    return found;
  }

  #followViolations({ code, out, err }: Said): readonly string[] {
    const found: string[] = [];
    if (code !== this.#code) {
      found.push(`yard cmd run -f of ${this.task} ended with ${code}, not ${this.#code}: ${err}`);
    }
    const problem = problemOf(out.split("\n").slice(0, -1));
    if (problem !== "") found.push(`yard cmd run -f of ${this.task} ${problem}`);
    return found;
  }

  async #untilPrinting(): Promise<void> {
    await eventually(`${this.task} prints`, async () => {
      const { items } = await this.#world.client.call("listTaskLogs", { task: this.task, tail: 1 });
      return items.length > 0;
    });
  }
}

/** Checks that a task has ended so, in its first run. */
export async function endViolations(
  world: World,
  task: string,
  state: string,
  code: number,
): Promise<readonly string[]> {
  let found: Plain<Task> | undefined;
  const isOver = async (): Promise<boolean> => {
    found = await world.client.call("getTask", { task });
    return ["COMPLETED", "KILLED", "ERROR"].includes(found.state);
  };
  await eventually(`${task} has ended`, isOver, endMs).catch(() => {});
  const seen = [found?.state, found?.exitCode ?? 0, found?.runs.length];
  const wanted = [state, code, 1];
  return JSON.stringify(seen) === JSON.stringify(wanted)
    ? []
    : [
        `${task} has state, exit code and runs ${seen.join(", ")} (${found?.reason}), not ${wanted.join(", ")}`,
      ];
}

async function linesOf(world: World, task: string): Promise<readonly string[]> {
  const lines: string[] = [];
  let pageToken = "";
  do {
    const request = { task, source: "stdout", pageSize: 1_000, pageToken };
    const page = await world.client.call("listTaskLogs", request);
    lines.push(...page.items.map(({ text }) => text));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return lines;
}

/** Returns an empty text for 1, 2, 3 … and "end" with the last number. */
function problemOf(lines: readonly string[]): string {
  const last = lines.length - 1;
  const wrong = lines.findIndex((line, n) => line !== (n === last ? `end ${last}` : String(n + 1)));
  if (lines.length === 0) return "is empty";
  return wrong === -1 ? "" : `has "${lines[wrong]}" as line ${wrong + 1} of ${lines.length}`;
}
