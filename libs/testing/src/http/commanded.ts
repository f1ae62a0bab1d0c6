/** Failures that a test commands a server to show: each rule holds for so many requests of an operation. */
import type { IncomingMessage, ServerResponse } from "node:http";

export type CommandedFailure =
  /** Answers with this status, and does nothing. */
  | { readonly kind: "status"; readonly status: number; readonly code: string }
  /** Answers correctly, with a delay. */
  | { readonly kind: "slow"; readonly ms: number }
  /** Breaks the connection off without doing anything. */
  | { readonly kind: "reset" }
  /** Does what was asked, and breaks the connection off before it answers. */
  | { readonly kind: "lost_answer" }
  /** Breaks the connection off after this many bytes of the answer's content. */
  | { readonly kind: "truncated"; readonly afterBytes: number }
  /** Answers 200 with an error as its content, as S3 may on copies and completions. */
  | { readonly kind: "late_error"; readonly code: string };

export type FailureRule = {
  readonly failure: CommandedFailure;
  /** An operation's name; absent: any. */
  readonly operation?: string;
  /** Part of the key; absent: any. */
  readonly key?: string;
  /** 1 unless given. */
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

  /** The failure that this request is to show, which counts it. */
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

/** The client sees a connection that was reset. */
export function breakOff(request: IncomingMessage, response: ServerResponse): void {
  response.destroy();
  request.socket.resetAndDestroy();
}
