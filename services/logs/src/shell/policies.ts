/**
 * Compares stored lines with the log policies of their experiment, and records the first match of each policy, node and
 * run in `logsignal-<trial>`.
 *
 * A batch is acknowledged after its matches are recorded. If the service dies in between, the agent resends the batch,
 * and recorded matches are recognised: a match is recorded once and never missed.
 *
 * Texts are compared in a worker thread, in turns that all runs share. A run with slow lines delays only itself, as its
 * agent sends the next batch after the answer. The thread's time per batch is bounded: the remaining lines are not
 * compared, but counted, since a batch that is never acknowledged would be resent forever. An agent that times out
 * resends the batch from the same line, and compared lines are not compared again.
 */
import type { EventData } from "@trainyard/contracts";
import { decodeEvent } from "@trainyard/contracts";
import { deriveCommitId, type EventLog } from "@trainyard/event-log";
import { type LogPolicy, recordedConfig } from "@trainyard/experiment-config/recorded";
import { allocationId, isRejection, isTaskId, runId, streamName } from "@trainyard/kernel";
import { type Executor, KeyedQueue, newTraceparent, serviceMeta } from "@trainyard/runtime";
import { LRUCache } from "lru-cache";
import type { LineRow } from "../core/batch.ts";
import { signalKey } from "../core/log-signal.ts";
import { logsLimits } from "../limits.ts";
import { logSignals } from "../streams.ts";
import type { Telemetry } from "../telemetry.ts";
import type { LineTable } from "./line-table.ts";
import type { Patterns } from "./patterns.ts";

export type PolicyDeps = {
  readonly log: EventLog;
  readonly executor: Executor;
  readonly table: LineTable;
  readonly patterns: Patterns;
  readonly events: Telemetry;
};

type Matched = EventData<"LogPolicyMatched">;

export class LogPolicies {
  readonly #deps: PolicyDeps;
  /** The log policies by experiment; an experiment's configuration never changes. */
  readonly #policies = new LRUCache<string, readonly LogPolicy[]>({
    max: logsLimits.experimentsKnownMax,
  });
  /** The recorded matches by run and node, so that no match is recorded twice. */
  readonly #told = new LRUCache<string, Set<string>>({ max: logsLimits.runsToldMax });

  /** The sequence numbers of the latest compared batch, by run and node. */
  readonly #compared = new LRUCache<string, Span>({ max: logsLimits.runsToldMax });
  readonly #queue = new KeyedQueue();

  #rewinds = 0;

  constructor(deps: PolicyDeps) {
    this.#deps = deps;
  }

  /** Forgets what was read before the log went back: its experiments and runs may have been given again. */
  inHistory(rewinds: number): void {
    if (rewinds === this.#rewinds) return;
    this.#rewinds = rewinds;
    for (const cache of [this.#policies, this.#told, this.#compared]) cache.clear();
  }

  /** Resolves once all matches of these stored lines are in the log. */
  async apply(agent: string, rows: readonly LineRow[]): Promise<void> {
    for (const [node, own] of Map.groupBy(rows, nodeOf)) {
      // A resent batch waits for the first one, and then finds its lines compared.
      await this.#queue.run(node, async () => {
        await this.#applyTo(agent, own.filter(outside(this.#compared.get(node) ?? none)));
        this.#compared.set(node, spanOf(own));
      });
    }
  }

  /** Compares the lines of one node of one run. */
  async #applyTo(agent: string, rows: readonly LineRow[]): Promise<void> {
    const [first] = rows;
    if (first === undefined) return;
    const { run, nodeRank, experiment } = first;
    const told = this.#toldOf(nodeOf(first));
    const policies = (await this.#policiesOf(experiment)).filter(
      ({ name, action = "" }) => !told.has(signalKey({ run, nodeRank, policy: name, action })),
    );
    if (policies.length === 0) return;
    const { found, problems, unmatched } = await this.#deps.patterns.matchFirst(
      policies.map(({ pattern }) => pattern),
      rows.map(({ text }) => text),
      logsLimits.policyMsPerBatch,
    );
    for (const [number, policy] of policies.entries()) {
      const problem = problems[number] ?? null;
      if (problem !== null) this.#turnOff(experiment, policy, problem);
    }
    if (unmatched > 0) this.#deps.events.unmatched(nodeOf(first), unmatched);
    for (const [number, policy] of policies.entries()) {
      const row = rows[found[number] ?? -1];
      if (row === undefined) continue;
      const { name, action = "" } = policy;
      await this.#record(row, {
        policy: name,
        action,
        line: row.text.slice(0, logsLimits.matchedLineCharactersMax),
        run,
        agent,
        nodeRank,
        ...(row.rank === null ? {} : { rank: row.rank }),
        cursor: await this.#deps.table.cursorOf(row),
      });
      told.add(signalKey({ run, nodeRank, policy: name, action }));
    }
  }

  #turnOff(experiment: string, off: LogPolicy, problem: string): void {
    const policies = this.#policies.get(experiment);
    if (policies?.includes(off) !== true) return;
    this.#policies.set(
      experiment,
      policies.filter((policy) => policy !== off),
    );
    this.#deps.events.policyOff(experiment, off, problem);
  }

  #toldOf(node: string): Set<string> {
    const known = this.#told.get(node) ?? new Set<string>();
    this.#told.set(node, known);
    return known;
  }

  /**
   * Returns no policies for a task, and none for an experiment that is not in the log. This result is not cached: the
   * experiment may be appended later.
   */
  async #policiesOf(experiment: string): Promise<readonly LogPolicy[]> {
    if (isTaskId(experiment)) return [];
    const known = this.#policies.get(experiment);
    if (known !== undefined) return known;
    const [created] = await this.#deps.log.read(streamName("experiment", experiment), 0, 1);
    const event = created === undefined ? null : decodeEvent(created);
    if (event?.type !== "ExperimentCreated") return [];
    const policies = recordedConfig(event.data.config).log_policies.filter(
      ({ pattern }) => pattern !== "",
    );
    this.#policies.set(experiment, policies);
    return policies;
  }

  async #record({ experiment, trial, run }: LineRow, matched: Matched): Promise<void> {
    const identity = {
      commitId: deriveCommitId("log-policy", trial, signalKey(matched)),
      meta: serviceMeta("logs", {
        correlationid: `experiment-${experiment}`,
        authid: `run:${runId(trial, run)}`,
        traceparent: newTraceparent(),
      }),
    };
    await this.#deps.executor.execute(identity, async (work) => {
      const decided = await work.decide(logSignals, trial, { kind: "match", matched });
      return isRejection(decided) ? decided : undefined;
    });
    this.#deps.events.matched(matched.action);
  }
}

const nodeOf = ({ trial, run, nodeRank }: LineRow): string =>
  `${allocationId(trial, run)} ${nodeRank}`;

/** The first and last sequence number of consecutive lines. */
type Span = { readonly first: number; readonly last: number };

const none: Span = { first: 0, last: -1 };

/** Returns the span of consecutive lines; `none` if a line is missing. */
function spanOf(rows: readonly LineRow[]): Span {
  const [first, last] = [rows[0]?.sequence ?? 0, rows.at(-1)?.sequence ?? -1];
  return last - first + 1 === rows.length ? { first, last } : none;
}

const outside =
  ({ first, last }: Span) =>
  ({ sequence }: LineRow): boolean =>
    sequence < first || sequence > last;
