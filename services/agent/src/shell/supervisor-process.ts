/**
 * Starts the supervisor of a run before its model code is unpacked, and gives it the order afterwards, so that both
 * overlap.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join, resolve } from "node:path";
import { programFile } from "@trainyard/kernel/program-file";
import { names } from "../state/layout.ts";
import type { StartOrder } from "../runtime/start-order.ts";

const program = join(import.meta.dirname, "..", "supervisor", "main.ts");

/** The cache of compiled code halves the start time of a supervisor. */
const compiled = resolve(import.meta.dirname, "../../../../.cache/compiled");

/** The variables that the supervisor needs, none of them secret. The mark names its test run. */
const passedOn = ["PATH", "HOME", "TMPDIR", "LANG", "NODE_COMPILE_CACHE", "TY_TEST_RUN"];

export function passedOnOf(
  variables: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => passedOn.includes(name)));
}

export class SupervisorProcess implements Disposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;

  constructor(runFolder: string, variables: Readonly<Record<string, string>>, onExit: () => void) {
    const log = openSync(join(runFolder, names.supervisorLog), "a", 0o600);
    const parameters = ["--max-old-space-size=128", programFile(program), runFolder];
    this.#child = spawn(process.execPath, parameters, {
      cwd: runFolder,
      env: { NODE_COMPILE_CACHE: compiled, ...passedOnOf(variables) },
      detached: true,
      stdio: ["pipe", log, log],
    });
    closeSync(log);
    this.#ended = new Promise((resolve) => {
      this.#child.once("exit", () => resolve());
      this.#child.once("error", () => resolve());
    });
    void this.#ended.then(onExit);
    // The supervisor may die before it has read its order; its exit handler handles that.
    this.#child.stdin?.on("error", () => {});
    this.#child.unref();
  }

  order(order: StartOrder): void {
    this.#child.stdin?.end(`${JSON.stringify(order)}\n`);
  }

  get isRunning(): boolean {
    return (
      this.#child.pid !== undefined &&
      this.#child.exitCode === null &&
      this.#child.signalCode === null
    );
  }

  /** Closes the input: a supervisor without an order starts nothing. */
  [Symbol.dispose](): void {
    if (this.#child.stdin?.writableEnded === false) this.#child.stdin.destroy();
  }
}
