/**
 * A disk that calls file systems in child processes. A call of a hard mount whose server is away returns when the
 * server is back. Until then it occupies a thread, and a process with such a thread, also of a worker, cannot exit. So
 * a process has calls of one root at a time: a mount that hangs delays the calls of its own root, and nothing else. The
 * process that has answered them takes the calls of another root, ends after a while without any, and is killed with
 * this disk.
 *
 * The content of an opened file crosses in chunks. The next chunk is asked for when the one before is taken, so at most
 * two are in memory.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Clock, Fault } from "@trainyard/kernel";
import { programFile } from "@trainyard/kernel/program-file";
import type { OpenedFile, StorageDisk } from "./storage-disk.ts";

/** The calls whose answer is one message. */
type Call = Exclude<keyof StorageDisk, "read">;

export type DiskQuestion = { readonly id: number } & (
  | { readonly call: Call | "open"; readonly args: readonly unknown[] }
  | { readonly call: "next" | "close"; readonly reader: number }
);

export type DiskAnswer = { readonly id: number } & (
  | { readonly result?: unknown }
  | { readonly error: { readonly code: string; readonly message: string } }
);

/** The answer to "open". */
export type OpenedReader = Pick<OpenedFile, "bytes" | "mode" | "changedAtMs"> & {
  readonly reader: number;
};

type Asked = DiskQuestion extends infer Each
  ? Each extends DiskQuestion
    ? Omit<Each, "id">
    : never
  : never;

type Waiting = {
  readonly resolve: (result: unknown) => void;
  readonly reject: (fault: Fault) => void;
};

type Child = {
  readonly process: ChildProcess;
  readonly waiting: Map<number, Waiting>;
  /** Calls that wait, and files that are open. */
  busy: number;
  /** The timer that ends an idle process. */
  idle: Disposable | null;
};

const diskWorker = new URL("./disk-worker.ts", import.meta.url);

/** A process has about 45 MB. Checkpoints of a running trial may be minutes apart. */
const idleMs = 30_000;

export class ProcessDisk implements StorageDisk, Disposable {
  readonly seen = this.#calling("seen");
  readonly mark = this.#calling("mark");
  readonly renew = this.#calling("renew");
  readonly names = this.#calling("names");
  readonly ownerOf = this.#calling("ownerOf");
  readonly changedAtMs = this.#calling("changedAtMs");
  readonly files = this.#calling("files");
  readonly compare = this.#calling("compare");
  readonly digests = this.#calling("digests");
  readonly removeFolder = this.#calling("removeFolder");
  readonly removeFiles = this.#calling("removeFiles");
  readonly #clock: Clock;
  readonly #program: URL;
  readonly #children = new Set<Child>();
  readonly #byRoot = new Map<string, Child>();
  #lastId = 0;

  constructor(clock: Clock, program = diskWorker) {
    this.#clock = clock;
    this.#program = program;
  }

  async read(root: string, below: string, path: string): Promise<OpenedFile> {
    const child = this.#take(root);
    const release = (): void => this.#release(root, child);
    const opening = this.#ask(child, { call: "open", args: [root, below, path] });
    const { reader, ...stats } = (await opening.catch((error: unknown) => {
      release();
      throw error;
    })) as OpenedReader;
    const next = () => this.#ask(child, { call: "next", reader }) as Promise<Uint8Array | null>;
    return {
      ...stats,
      content: chunksOf(next),
      [Symbol.asyncDispose]: async () => {
        await this.#ask(child, { call: "close", reader }).finally(release);
      },
    };
  }

  #calling<Name extends Call>(call: Name): StorageDisk[Name] {
    const calling = async (...args: readonly [string, ...unknown[]]): Promise<unknown> => {
      const [root] = args;
      const child = this.#take(root);
      try {
        return await this.#ask(child, { call, args });
      } finally {
        this.#release(root, child);
      }
    };
    return calling as StorageDisk[Name];
  }

  /** Returns the process that has calls of a root, an idle one, or a new one. */
  #take(root: string): Child {
    const idle = () => [...this.#children].find(({ busy }) => busy === 0);
    const child = this.#byRoot.get(root) ?? idle() ?? this.#start();
    this.#byRoot.set(root, child);
    child.busy += 1;
    child.idle?.[Symbol.dispose]();
    child.idle = null;
    return child;
  }

  #release(root: string, child: Child): void {
    child.busy -= 1;
    if (child.busy > 0 || !this.#children.has(child)) return;
    this.#byRoot.delete(root);
    child.idle = this.#clock.timer(idleMs, () => this.#lose(child));
  }

  #start(): Child {
    const process = fork(programFile(fileURLToPath(this.#program)), {
      // A process that hangs must hold no pipe that others wait for.
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced",
      execArgv: ["--max-old-space-size=128"],
      // Reads of several checkpoints must not occupy all threads, or a look at the marker would seem to hang.
      env: { UV_THREADPOOL_SIZE: "16" },
    });
    process.unref();
    process.channel?.unref();
    const child: Child = { process, waiting: new Map(), busy: 0, idle: null };
    this.#children.add(child);
    process.on("message", (answer: DiskAnswer) => settle(child, answer));
    process.once("error", () => this.#lose(child));
    process.once("exit", () => this.#lose(child));
    return child;
  }

  #ask(child: Child, asked: Asked): Promise<unknown> {
    if (!this.#children.has(child)) return Promise.reject(lost());
    this.#lastId += 1;
    const question: DiskQuestion = { id: this.#lastId, ...asked };
    return new Promise((resolve, reject) => {
      child.waiting.set(question.id, { resolve, reject });
      child.process.send(question, (error) => error && this.#lose(child));
    });
  }

  #lose(child: Child): void {
    if (!this.#children.delete(child)) return;
    child.idle?.[Symbol.dispose]();
    for (const [root, one] of this.#byRoot) if (one === child) this.#byRoot.delete(root);
    child.process.kill("SIGKILL");
    for (const { reject } of child.waiting.values()) reject(lost());
    child.waiting.clear();
  }

  [Symbol.dispose](): void {
    for (const child of this.#children) this.#lose(child);
  }
}

function settle({ waiting }: Child, answer: DiskAnswer): void {
  const { resolve, reject } = waiting.get(answer.id) ?? {};
  waiting.delete(answer.id);
  if (!("error" in answer)) return resolve?.(answer.result);
  const { code, message } = answer.error;
  reject?.(new Fault(code, message, { retry: "later" }));
}

function lost(): Fault {
  const detail = "the process that calls file systems did not answer";
  return new Fault("worker_lost", detail, { retry: "later" });
}

async function* chunksOf(ask: () => Promise<Uint8Array | null>): AsyncGenerator<Uint8Array> {
  for (let asked = ask(); ; ) {
    const chunk = await asked;
    if (chunk === null) return;
    asked = ask();
    // The next turn gets the error, if there is one.
    asked.catch(() => {});
    yield chunk;
  }
}
