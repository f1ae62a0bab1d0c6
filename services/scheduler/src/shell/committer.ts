/**
 * Commits decisions, each commit until its outcome is known: a commit that may have happened is sent again under its id,
 * never replaced by another, so that what the next round decides rests on what was.
 */
import { randomUUID } from "node:crypto";
import { isRejection } from "@trainyard/kernel";
import { childOf, type Executor, type Logger, type Work } from "@trainyard/runtime";
import { commitsOf, type Decision } from "../core/reconcile/decision.ts";
import { limits } from "../limits.ts";
import { agents, allocations, pools } from "./aggregates.ts";

type Pending = { readonly commitId: string; readonly decisions: readonly Decision[] };

export class Committer {
  readonly #executor: Executor;
  readonly #logger: Logger;
  #pending: Pending[] = [];

  constructor(executor: Executor, logger: Logger) {
    this.#executor = executor;
    this.#logger = logger;
  }

  add(decisions: readonly Decision[]): void {
    for (const commit of commitsOf(decisions, limits.streamsPerCommitMax)) {
      this.#pending.push({ commitId: randomUUID(), decisions: commit });
    }
  }

  /**
   * Whether there was anything. Commits share no stream, so they travel together. Throws what the log throws; what is
   * left is sent again at the next call.
   */
  async flush(): Promise<boolean> {
    const sent = this.#pending;
    if (sent.length === 0) return false;
    const results = await Promise.allSettled(sent.map((pending) => this.#commit(pending)));
    this.#pending = sent.filter((_, index) => results[index]?.status === "rejected");
    for (const result of results) if (result.status === "rejected") throw result.reason;
    return true;
  }

  async #commit({ commitId, decisions }: Pending): Promise<void> {
    const origin = decisions[0]?.origin;
    const meta = {
      source: "/trainyard/scheduler",
      workspace: origin?.workspace ?? "",
      correlationid: origin?.correlationid ?? "",
      causationid: "",
      authid: origin?.authid ?? "",
      traceparent: childOf(origin?.traceparent ?? ""),
    };
    await this.#executor.execute({ commitId, meta }, async (work) => {
      for (const decision of decisions) await this.#decide(work, decision);
    });
  }

  async #decide(work: Work, decision: Decision): Promise<void> {
    const decided = await decide(work, decision);
    if (!isRejection(decided)) return;
    const { on, id, command } = decision;
    this.#logger.info({ on, id, command: command.kind, rejected: decided.rejected }, "overtaken");
  }
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
