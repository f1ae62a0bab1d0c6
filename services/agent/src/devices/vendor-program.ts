/**
 * Runs a vendor's program. A program that is missing, hangs, fails, or prints without end is a result, never an error.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import type { Clock } from "@trainyard/kernel";
import { limits } from "../limits.ts";

export type VendorProgramResult =
  | { readonly kind: "missing" }
  /** The program gave no usable answer; `problem` says why, without a full stop. */
  | { readonly kind: "failed"; readonly problem: string }
  | {
      readonly kind: "ended";
      readonly output: string;
      /** Null for exit code 0. */
      readonly problem: string | null;
    };

export type VendorProgramDeps = {
  readonly clock: Clock;
  /** The variables of the agent's process. */
  readonly inherited: Readonly<Record<string, string>>;
  readonly limitMs?: number;
};

/** The environment variables that the programs get from the agent; a test run finds its processes by the last one. */
const passedOn = ["PATH", "HOME", "LD_LIBRARY_PATH", "ROCM_PATH", "TY_TEST_RUN"];

export class VendorProgram {
  readonly name: string;
  readonly #deps: VendorProgramDeps;
  /** A process that did not end when it was killed: the kernel holds it, and a second one would hang too. */
  #stuck: ChildProcess | null = null;

  constructor(name: string, deps: VendorProgramDeps) {
    this.name = name;
    this.#deps = deps;
  }

  async run(parameters: readonly string[], signal: AbortSignal): Promise<VendorProgramResult> {
    const { clock, inherited, limitMs = limits.deviceProgramMs } = this.#deps;
    if (this.#stuck !== null) {
      return failed(`${this.name} was killed because it gave no answer, and has not ended yet`);
    }
    const environment = Object.entries(inherited).filter(([name]) => passedOn.includes(name));
    const child = spawn(this.name, parameters, {
      env: { ...Object.fromEntries(environment), LC_ALL: "C" },
      // The program has a process group, so that its children are killed with it.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const ended = this.#ended(child);
    const stopped = new Promise<VendorProgramResult>((resolve) => {
      const stop = (problem: string): void => {
        this.#kill(child);
        resolve(failed(problem));
      };
      const timer = clock.timer(limitMs, () =>
        stop(`${this.name} gave no answer within ${limitMs / 1_000} s`),
      );
      const abort = (): void => stop(`${this.name} was stopped with the agent`);
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) abort();
      void ended.finally(() => {
        timer[Symbol.dispose]();
        signal.removeEventListener("abort", abort);
      });
    });
    return await Promise.race([ended, stopped]);
  }

  #kill(child: ChildProcess): void {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    this.#stuck = child;
    child.once("exit", () => {
      this.#stuck = null;
    });
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // The process has just ended.
    }
    child.stdout?.destroy();
    child.stderr?.destroy();
    child.unref();
  }

  #ended(child: ChildProcess): Promise<VendorProgramResult> {
    const output = collect(child.stdout);
    const errors = collect(child.stderr);
    return new Promise((resolve) => {
      child.once("error", (error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") resolve({ kind: "missing" });
        else resolve(failed(`${this.name} cannot be run (${error.message})`));
      });
      child.once("close", (code, signal) => {
        if (signal !== null) return resolve(failed(`${this.name} was ended by ${signal}`));
        if (code === 0) return resolve({ kind: "ended", output: output(), problem: null });
        const said = firstLine(errors()) || firstLine(output());
        const problem = `${this.name} exited with code ${code}${said === "" ? "" : `: ${said}`}`;
        resolve({ kind: "ended", output: output(), problem });
      });
    });
  }
}

export function firstLine(text: string): string {
  const line = text.split("\n").find((one) => one.trim() !== "") ?? "";
  return line.trim().slice(0, limits.deviceLineCharsMax);
}

function failed(problem: string): VendorProgramResult {
  return { kind: "failed", problem };
}

/** Collects text up to a limit, and drops the rest. */
function collect(stream: Readable | null): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream?.on("error", () => {});
  stream?.on("data", (chunk: Buffer) => {
    if (bytes < limits.deviceOutputBytesMax) chunks.push(chunk);
    bytes += chunk.length;
  });
  return () => Buffer.concat(chunks).toString("utf8");
}
