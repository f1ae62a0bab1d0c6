/** Optuna in a separate process, which is asked for points and receives their values. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import type { HyperparameterSpace, JsonObject } from "@trainyard/experiment-config";

export type PeerSampler = "random" | "tpe" | "tpe_multivariate" | "gp";

export type PeerStudy = {
  readonly sampler: PeerSampler;
  readonly seed: number;
  readonly space: HyperparameterSpace;
  readonly minimize: boolean;
};

/** The answer to a request; `seconds` is the time of tell and ask in the peer, without the pipe. */
export type Asked = {
  readonly trial: number;
  readonly point: JsonObject;
  readonly seconds: number;
};

export type Tell = readonly [trial: number, value: number];

/** The peer uses one core, since a library's parallelism is not compared. */
const oneCore = { OMP_NUM_THREADS: "1", MKL_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1" };

export class Peer implements AsyncDisposable {
  readonly version: string;
  /** Whether its Gaussian process sampler can be used. */
  readonly gp: boolean;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(
    child: ChildProcess,
    lines: AsyncIterator<string>,
    hello: { readonly version: string; readonly gp: boolean },
  ) {
    this.#child = child;
    this.#lines = lines;
    this.version = hello.version;
    this.gp = hello.gp;
  }

  /** Starts the peer with a Python that can import it. */
  static async start(python: string): Promise<Peer> {
    const script = join(import.meta.dirname, "optuna_peer.py");
    const child = spawn(python, [script], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, ...oneCore },
    });
    const lines: Interface = createInterface({ input: child.stdout });
    const iterator = lines[Symbol.asyncIterator]();
    const hello = (await nextLine(iterator)) as { version: string; gp: boolean };
    return new Peer(child, iterator, hello);
  }

  async begin(study: PeerStudy): Promise<void> {
    await this.#request({ study });
  }

  /** Continues the study with another sampler. */
  async change(sampler: PeerSampler, seed: number): Promise<void> {
    await this.#request({ sampler, seed });
  }

  async ask(tell?: Tell): Promise<Asked> {
    const request = tell === undefined ? { ask: true } : { tell, ask: true };
    return (await this.#request(request)) as Asked;
  }

  async #request(request: object): Promise<unknown> {
    this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
    return await nextLine(this.#lines);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.#child.exitCode === null ? once(this.#child, "exit") : undefined;
    this.#child.stdin?.end();
    await ended;
  }
}

async function nextLine(lines: AsyncIterator<string>): Promise<unknown> {
  const next = await lines.next();
  if (next.done === true) throw new Error("Optuna's process has ended");
  return JSON.parse(next.value);
}
