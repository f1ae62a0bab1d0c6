/**
 * Commits decisions, and retries each commit until its outcome is known: a commit with an unknown outcome is sent again
 * under its id, never replaced, so that the next round decides on known events. A commit that the log refuses never
 * happens: its decisions are sent one by one, and a refused one is shortened or set aside.
 */
import { randomUUID } from "node:crypto";
import { isRejection } from "@trainyard/kernel";
import {
  CommitRefused,
  during,
  type Executor,
  type Logger,
  serviceMeta,
  type Span,
  type Tracer,
  type Work,
} from "@trainyard/runtime";
import { commitsOf, type Decision } from "../core/reconcile/decision.ts";
import { shorter } from "../core/reconcile/refused.ts";
import { operatorLine } from "../core/reconcile/operator-line.ts";
import { limits } from "../limits.ts";
import { agents, allocations, pools } from "../streams.ts";

type Pending = {
  readonly commitId: string;
  readonly decisions: readonly Decision[];
  /** True for a decision that replaces a refused one. */
  readonly isShortened: boolean;
};

export type CommitterDeps = {
  readonly executor: Executor;
  readonly logger: Logger;
  readonly tracer: Tracer;
  /** Called for a decision that the log refuses in every form. */
  readonly onRefused: (decision: Decision, refusal: string) => void;
};

export class Committer {
  readonly #deps: CommitterDeps;
  #pending: readonly Pending[] = [];

  constructor(deps: CommitterDeps) {
    this.#deps = deps;
  }

  add(decisions: readonly Decision[]): void {
    const commits = commitsOf(decisions, limits.streamsPerCommitMax);
    this.#pending = [...this.#pending, ...commits.map((commit) => pendingOf(commit))];
  }

  /**
   * Returns whether any commit was pending. Commits share no stream, so they are sent together. Throws the log's
   * errors; the remaining commits are sent again in the next call.
   */
  async flush(): Promise<boolean> {
    if (this.#pending.length === 0) return false;
    while (this.#pending.length > 0) await this.#flushOnce();
    return true;
  }

  async #flushOnce(): Promise<void> {
    const sent = this.#pending;
    const results = await Promise.allSettled(sent.map((pending) => this.#commit(pending)));
    const failures: unknown[] = [];
    this.#pending = sent.flatMap((pending, index) => {
      const result = results[index];
      if (result?.status !== "rejected") return [];
      if (result.reason instanceof CommitRefused) return this.#refused(pending, result.reason);
      failures.push(result.reason);
      return [pending];
    });
    for (const failure of failures) throw failure;
  }

  /** The decision to try instead. */
  #refused({ decisions, isShortened }: Pending, { message }: CommitRefused): readonly Pending[] {
    const [decision] = decisions;
    if (decision === undefined) return [];
    if (decisions.length > 1) return decisions.map((one) => pendingOf([one], isShortened));
    const instead = isShortened ? null : shorter(decision, message);
    const { on, id, command } = decision;
    const told = { on, id, command: command.kind, refusal: message };
    this.#deps.logger.error(told, instead === null ? "decision_set_aside" : "decision_shortened");
    if (instead !== null) return [pendingOf([instead], true)];
    this.#deps.onRefused(decision, message);
    return [];
  }

  async #commit({ commitId, decisions }: Pending): Promise<void> {
    const origin = decisions[0]?.origin;
    const span = this.#spanOf(decisions);
    const meta = serviceMeta("scheduler", {
      workspace: origin?.workspace ?? "",
      correlationid: origin?.correlationid ?? "",
      authid: origin?.authid ?? "",
      traceparent: span.traceparent,
    });
    await during(span, () =>
      this.#deps.executor.execute({ commitId, meta }, async (work) => {
        for (const decision of decisions) await this.#decide(work, decision);
      }),
    );
    for (const decision of decisions) this.#tell(decision);
  }

  /**
   * Returns the span of a commit, in the trace of its first run. The end of a run begins a trace, linked to those of
   * the commit's runs, so that no trace grows with the trials of an experiment.
   */
  #spanOf(decisions: readonly Decision[]): Span {
    const { tracer } = this.#deps;
    const links = [...new Set(decisions.map(({ origin }) => origin?.traceparent ?? ""))];
    const isEnd = decisions.some(({ command }) => command.kind === "end");
    if (!isEnd) return tracer.under("effect", links[0] ?? "");
    return tracer.begin("run ended", "", { links });
  }

  #tell(decision: Decision): void {
    const line = operatorLine(decision);
    if (line !== null) this.#deps.logger.warn(line.fields, line.message);
  }

  async #decide(work: Work, decision: Decision): Promise<void> {
    const decided = await decide(work, decision);
    if (!isRejection(decided)) return;
    const { on, id, command } = decision;
    this.#deps.logger.info(
      { on, id, command: command.kind, rejected: decided.rejected },
      "overtaken",
    );
  }
}

function pendingOf(decisions: readonly Decision[], isShortened = false): Pending {
  return { commitId: randomUUID(), decisions, isShortened };
}

async function decide(work: Work, decision: Decision) {
  switch (decision.on) {
    case "allocation":
      return work.decide(allocations, decision.id, decision.command);
    case "agent":
      return work.decide(agents, decision.id, decision.command);
    case "pool":
      return work.decide(pools, decision.id, decision.command);
  }
}
