/** Agents that share a process, and so its failures. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { assert } from "@trainyard/kernel";
import type { Link } from "./link.ts";

export const troubles = ["kill", "freeze", "cut", "deafen", "mute"] as const;
export type Trouble = (typeof troubles)[number];

export class Rack implements AsyncDisposable {
  readonly #environmentFiles: readonly string[];
  readonly #links: readonly Link[];
  readonly #logFile: string;
  #child: ChildProcess | null = null;

  constructor(environmentFiles: readonly string[], links: readonly Link[], logFile: string) {
    this.#environmentFiles = environmentFiles;
    this.#links = links;
    this.#logFile = logFile;
  }

  /** Resolves when all agents of the rack serve. */
  async start(): Promise<void> {
    const main = join(import.meta.dirname, "hosts-main.ts");
    const log = openSync(this.#logFile, "a");
    const child = spawn(process.execPath, [main, ...this.#environmentFiles], {
      stdio: ["ignore", "pipe", log],
    });
    this.#child = child;
    assert(child.stdout !== null, "its output is a pipe");
    const ended = once(child, "exit").then(() => {
      throw new Error(`the agents ended: ${readFileSync(this.#logFile, "utf8").slice(-2_000)}`);
    });
    await Promise.race([once(child.stdout, "data"), ended]);
    ended.catch(() => {});
  }

  /** Applies the trouble, and ends it after this time. */
  async suffer(trouble: Trouble, forMs: number): Promise<void> {
    switch (trouble) {
      case "kill":
        await this.#end("SIGKILL");
        await delay(forMs);
        return this.start();
      case "freeze":
        this.#child?.kill("SIGSTOP");
        await delay(forMs);
        this.#child?.kill("SIGCONT");
        return;
      case "cut":
        for (const link of this.#links) link.cut();
        break;
      case "deafen":
        for (const link of this.#links) link.cutOneWay("to the agent");
        break;
      case "mute":
        for (const link of this.#links) link.cutOneWay("from the agent");
    }
    await delay(forMs);
    for (const link of this.#links) link.mend();
  }

  async #end(how: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(how);
    await ended;
  }

  /** The rack's runs are ended first, so that no process of them is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("SIGTERM");
    for (const link of this.#links) await link[Symbol.asyncDispose]();
  }
}
