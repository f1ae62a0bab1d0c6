/** The agents about whose trust something has to be watched or recorded. */
import type { RecentFailure } from "./recent-failures.ts";
import type { Agent } from "./state.ts";
import { trustDecision } from "./trust.ts";

export class Trusts {
  /** Agents that get no runs for a while. */
  readonly cooling = new Set<string>();
  /** Agents that are distrusted or trusted again, which has to be recorded. */
  readonly troubled = new Set<string>();
  /** Agents that were distrusted, and are not trusted again yet. */
  readonly distrusted = new Set<string>();
  /** Agents on which runs have failed. */
  readonly failing = new Set<string>();
  recent: readonly RecentFailure[] = [];
  /** The experiments of which a run has done well, each with two of the agents on which one has. */
  readonly didWell = new Map<string, readonly string[]>();

  noteDidWell(job: string, agents: readonly string[]): void {
    if (agents.length === 0) return;
    const on = new Set([...(this.didWell.get(job) ?? []), ...agents]);
    this.didWell.set(job, [...on].slice(0, 2));
  }

  /** An agent from a snapshot cools down until its deadline is read. */
  note({ id, trust }: Agent, isSaved: boolean): void {
    if (trust.untilMs === null) this.cooling.delete(id);
    else if (isSaved) this.cooling.add(id);
    put(this.troubled, id, trustDecision(trust) !== null);
    put(this.distrusted, id, trust.times > 0);
    put(this.failing, id, trust.failures.length > 0);
  }
}

function put(agents: Set<string>, id: string, isIn: boolean): void {
  if (isIn) agents.add(id);
  else agents.delete(id);
}
