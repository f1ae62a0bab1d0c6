/** Failures that a test commands a server to show: each rule applies to a number of requests of an operation. */
import type { IncomingMessage, ServerResponse } from "node:http";

export type CommandedFailure =
  /** Answers with this status without performing the request. */
  | { readonly kind: "status"; readonly status: number; readonly code: string }
  /** Answers correctly, but with a delay. */
  | { readonly kind: "slow"; readonly ms: number }
  /** Breaks off the connection without performing the request. */
  | { readonly kind: "reset" }
  /** Performs the request and breaks off the connection before the answer. */
  | { readonly kind: "lost_answer" }
  /** Breaks off the connection after this many bytes of the answer's content. */
  | { readonly kind: "truncated"; readonly afterBytes: number }
  /** Answers 200 with an error as content, like S3 for some copies and completions. */
  | { readonly kind: "late_error"; readonly code: string };

export type FailureRule = {
  readonly failure: CommandedFailure;
  /** The operation's name; default: any. */
  readonly operation?: string;
  /** A part of the key; default: any. */
  readonly key?: string;
  /** The number of requests; default: 1. */
  readonly times?: number;
};

export class CommandedFailures {
  #rules: { rule: FailureRule; left: number }[] = [];

  add(rule: FailureRule): void {
    this.#rules.push({ rule, left: rule.times ?? 1 });
  }

  clear(): void {
    this.#rules = [];
  }

  /** Returns the failure for this request, and counts it. */
  take(operation: string, key: string): CommandedFailure | null {
    const found = this.#rules.find(
      ({ rule, left }) =>
        left > 0 && (rule.operation ?? operation) === operation && key.includes(rule.key ?? ""),
    );
    if (found === undefined) return null;
    found.left -= 1;
    return found.rule.failure;
  }
}

export const slow = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** Resets the connection, which the client sees. */
export function breakOff(request: IncomingMessage, response: ServerResponse): void {
  response.destroy();
  request.socket.resetAndDestroy();
}
