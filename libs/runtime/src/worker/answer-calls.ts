/** The thread's side of `worker-call.ts`. It imports nothing else of the runtime, so that a thread starts quickly. */
import { parentPort, type Transferable } from "node:worker_threads";
import { assert } from "@trainyard/kernel";

export type WorkerRequest<Question> = { readonly id: number; readonly question: Question };
export type WorkerResponse<Answer> =
  | { readonly id: number; readonly answer: Answer }
  | { readonly id: number; readonly error: string };

/**
 * Answers calls in this thread; answers are sent in order of completion. `transferredOf` returns the objects to
 * transfer with an answer.
 */
export function answerCalls<Question, Answer>(
  answer: (question: Question) => Answer | Promise<Answer>,
  transferredOf: (answer: Answer) => readonly Transferable[] = () => [],
): void {
  const port = parentPort;
  assert(port !== null, "this module runs as a worker");
  const respond = async ({ id, question }: WorkerRequest<Question>): Promise<void> => {
    try {
      const answered = await answer(question);
      const message: WorkerResponse<Answer> = { id, answer: answered };
      port.postMessage(message, transferredOf(answered));
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      const message: WorkerResponse<Answer> = { id, error: text };
      port.postMessage(message);
    }
  };
  port.on("message", (asked: WorkerRequest<Question>) => void respond(asked));
}
