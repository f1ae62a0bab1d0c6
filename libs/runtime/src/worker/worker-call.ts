/**
 * Calls to a worker thread, which computes while this thread continues. The thread starts with the first call, and
 * again after it was lost; its open calls are then rejected. The thread's module calls `answerCalls`.
 */
import { fileURLToPath } from "node:url";
import { type Transferable, Worker } from "node:worker_threads";
import { Fault } from "@trainyard/kernel";
import { programFile } from "@trainyard/kernel/program-file";
import type { WorkerResponse, WorkerRequest } from "./answer-calls.ts";

type Waiting<Answer> = {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
};

export class WorkerCall<Question, Answer> implements AsyncDisposable {
  readonly #module: URL;
  readonly #task: string;
  readonly #waiting = new Map<number, Waiting<Answer>>();
  #worker: Worker | null = null;
  #lastId = 0;

  /** `task` completes the sentence "the thread that … ended". */
  constructor(module: URL, task: string) {
    this.#module = module;
    this.#task = task;
  }

  /**
   * Resolves with the thread's answer. Throws a Fault `worker_failed` if the thread threw, `worker_lost` if it exited.
   * Transferred objects become unusable here.
   */
  ask(question: Question, transferred: readonly Transferable[] = []): Promise<Answer> {
    this.#lastId += 1;
    const asked: WorkerRequest<Question> = { id: this.#lastId, question };
    return new Promise((resolve, reject) => {
      this.#waiting.set(asked.id, { resolve, reject });
      this.#worker ??= this.#start();
      this.#worker.postMessage(asked, transferred);
    });
  }

  #start(): Worker {
    const worker = new Worker(programFile(fileURLToPath(this.#module)));
    // The worker does not keep the process running; its callers may.
    worker.unref();
    worker.on("message", (answered: WorkerResponse<Answer>) => this.#settle(answered));
    worker.on("error", (cause: Error) => this.#lost(worker, cause));
    worker.on("exit", () => this.#lost(worker, null));
    return worker;
  }

  #settle(answered: WorkerResponse<Answer>): void {
    const waiting = this.#waiting.get(answered.id);
    this.#waiting.delete(answered.id);
    if ("answer" in answered) waiting?.resolve(answered.answer);
    else waiting?.reject(new Fault("worker_failed", answered.error, { retry: "later" }));
  }

  #lost(worker: Worker, cause: Error | null): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    const detail = `the thread that ${this.#task} ended`;
    const fault = new Fault("worker_lost", detail, { retry: "later", cause });
    for (const { reject } of this.#waiting.values()) reject(fault);
    this.#waiting.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const worker = this.#worker;
    if (worker === null) return;
    this.#lost(worker, null);
    await worker.terminate();
  }
}
