/**
 * A disk that calls file systems in child processes. A call of a hard mount whose server is away returns when the
 * server is back. Until then it occupies a thread, and a process with such a thread, also of a worker, cannot exit. So
 * each call has a process to itself. The process that has answered takes the next call. A process that hangs delays
 * only its own call, and is killed with this disk.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Fault } from "@trainyard/kernel";
import { programFile } from "@trainyard/kernel/program-file";
import type { SeenStorage, StorageMark } from "./marker-text.ts";
import type { Removed } from "./remove-below.ts";
import type { StorageDisk } from "./storage-disk.ts";

export type DiskQuestion =
  | { readonly call: "seen"; readonly root: string }
  | { readonly call: "mark"; readonly root: string; readonly id: string }
  | { readonly call: "renew"; readonly root: string; readonly mark: StorageMark }
  | { readonly call: "removeFolder" | "files"; readonly root: string; readonly below: string }
  | {
      readonly call: "removeFiles";
      readonly root: string;
      readonly below: string;
      readonly files: readonly string[];
    };

export type DiskAnswer =
  | { readonly result?: unknown }
  | { readonly error: { readonly code: string; readonly message: string } };

const diskWorker = new URL("./disk-worker.ts", import.meta.url);

export class ProcessDisk implements StorageDisk, Disposable {
  readonly #program: URL;
  readonly #children = new Set<ChildProcess>();
  #idle: ChildProcess | null = null;

  constructor(program = diskWorker) {
    this.#program = program;
  }

  async seen(root: string): Promise<SeenStorage> {
    return (await this.#ask({ call: "seen", root })) as SeenStorage;
  }

  async mark(root: string, id: string): Promise<string> {
    return (await this.#ask({ call: "mark", root, id })) as string;
  }

  async renew(root: string, mark: StorageMark): Promise<void> {
    await this.#ask({ call: "renew", root, mark });
  }

  async removeFolder(root: string, below: string): Promise<void> {
    await this.#ask({ call: "removeFolder", root, below });
  }

  async removeFiles(
    root: string,
    below: string,
    matches: (path: string) => boolean,
  ): Promise<Removed> {
    const files = (await this.#ask({ call: "files", root, below })) as readonly string[];
    const asked = { call: "removeFiles", root, below, files: files.filter(matches) } as const;
    return (await this.#ask(asked)) as Removed;
  }

  async #ask(question: DiskQuestion): Promise<unknown> {
    const child = this.#idle ?? this.#start();
    this.#idle = null;
    const answer = await this.#answerOf(child, question);
    if (this.#idle === null) this.#idle = child;
    else child.kill("SIGKILL");
    if (!("error" in answer)) return answer.result;
    throw new Fault(answer.error.code, answer.error.message, { retry: "later" });
  }

  #start(): ChildProcess {
    const child = fork(programFile(fileURLToPath(this.#program)), {
      // A process that hangs must hold no pipe that others wait for.
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      execArgv: ["--max-old-space-size=128"],
    });
    child.unref();
    child.channel?.unref();
    this.#children.add(child);
    child.once("exit", () => {
      this.#children.delete(child);
      if (this.#idle === child) this.#idle = null;
    });
    return child;
  }

  async #answerOf(child: ChildProcess, question: DiskQuestion): Promise<DiskAnswer> {
    const over = new AbortController();
    const { signal } = over;
    try {
      const answered = once(child, "message", { signal });
      const ended = once(child, "exit", { signal }).then(() => {
        throw new Error("it ended");
      });
      child.send(question);
      const [answer] = (await Promise.race([answered, ended])) as [DiskAnswer];
      return answer;
    } catch (cause) {
      child.kill("SIGKILL");
      const detail = "the process that calls file systems did not answer";
      throw new Fault("worker_lost", detail, { retry: "later", cause });
    } finally {
      over.abort();
    }
  }

  [Symbol.dispose](): void {
    for (const child of this.#children) child.kill("SIGKILL");
  }
}
