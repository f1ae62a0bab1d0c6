/**
 * Compares stored lines with the log policies of their experiment and with the patterns of webhooks, and records the
 * first match of each of them, node and run in `logsignal-<trial or task>`.
 *
 * A batch is acknowledged after its matches are recorded. If the service dies in between, the agent resends the batch,
 * and recorded matches are recognised: a match is recorded once and never missed.
 *
 * Texts are compared in a worker thread, in turns that all runs share. A run with slow lines delays only itself, as its
 * agent sends the next batch after the answer. The thread's time per batch is bounded, for webhooks apart, so that
 * their patterns take no time from the policies: the remaining lines are not compared, but counted, since a batch that
 * is never acknowledged would be resent forever. An agent that times out resends the batch from the same line, and
 * compared lines are not compared again.
 */
import { decodeEvent } from "@trainyard/contracts";
import { deriveCommitId, type EventLog } from "@trainyard/event-log";
import { type LogPolicy, recordedConfig } from "@trainyard/experiment-config/recorded";
import { allocationId, isRejection, isTaskId, streamName } from "@trainyard/kernel";
import { type Executor, KeyedQueue, serviceMeta } from "@trainyard/runtime";
import { LRUCache } from "lru-cache";
import type { LineRow } from "../core/batch.ts";
import { type LogSignalCommand, signalKey, webhookKey } from "../core/log-signal.ts";
import { logsLimits } from "../limits.ts";
import { logSignals } from "../streams.ts";
import type { Telemetry } from "../telemetry.ts";
import type { LineTable } from "./line-table.ts";
import type { Patterns } from "./patterns.ts";
import type { WebhookPatterns } from "./webhook-patterns.ts";

export type PolicyDeps = {
  readonly log: EventLog;
  readonly executor: Executor;
  readonly table: LineTable;
  readonly patterns: Patterns;
  readonly webhooks: WebhookPatterns;
  readonly events: Telemetry;
};

/** The first line that matches, and where it was written. */
type Found = {
  readonly line: string;
  readonly run: number;
  readonly agent: string;
  readonly nodeRank: number;
  readonly rank: number | null;
  readonly cursor: string;
};

/** An expression that the lines of a node are compared with until one matches. */
type Sought = {
  readonly pattern: string;
  /** The key of its match in the node's stream. */
  readonly key: string;
  readonly commandOf: (found: Found) => LogSignalCommand;
  /** Called if the expression is invalid. */
  readonly turnOff: (problem: string) => void;
};

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
    const { policyMsPerBatch, webhookMsPerBatch } = logsLimits;
    await this.#compare(agent, rows, await this.#policiesFor(first), policyMsPerBatch);
    await this.#compare(agent, rows, this.#webhooksFor(first), webhookMsPerBatch);
  }

  async #compare(
    agent: string,
    rows: readonly LineRow[],
    all: readonly Sought[],
    budgetMs: number,
  ): Promise<void> {
    const [first] = rows;
    if (first === undefined) return;
    const told = this.#toldOf(nodeOf(first));
    const sought = all.filter(({ key }) => !told.has(key));
    if (sought.length === 0) return;
    const { found, problems, unmatched } = await this.#deps.patterns.matchFirst(
      sought.map(({ pattern }) => pattern),
      rows.map(({ text }) => text),
      budgetMs,
    );
    if (unmatched > 0) this.#deps.events.unmatched(nodeOf(first), unmatched);
    for (const [number, one] of sought.entries()) {
      const problem = problems[number] ?? null;
      if (problem !== null) one.turnOff(problem);
    }
    for (const [number, { key, commandOf }] of sought.entries()) {
      const row = rows[found[number] ?? -1];
      if (row === undefined) continue;
      const { run, nodeRank, rank } = row;
      const line = row.text.slice(0, logsLimits.matchedLineCharactersMax);
      const cursor = await this.#deps.table.cursorOf(row);
      const command = commandOf({ line, run, agent, nodeRank, rank, cursor });
      await this.#record(row, key, command);
      told.add(key);
    }
  }

  async #policiesFor({ experiment, run, nodeRank }: LineRow): Promise<readonly Sought[]> {
    return (await this.#policiesOf(experiment)).map((policy) => {
      const { name, action = "", pattern } = policy;
      return {
        pattern,
        key: signalKey({ run, nodeRank, policy: name, action }),
        commandOf: ({ rank, ...found }) => ({
          kind: "match",
          matched: { policy: name, action, ...found, ...(rank === null ? {} : { rank }) },
        }),
        turnOff: (problem) => this.#turnOff(experiment, policy, problem),
      };
    });
  }

  #webhooksFor({ experiment, run, nodeRank }: LineRow): readonly Sought[] {
    return this.#deps.webhooks.of(experiment).map(({ webhook, pattern }) => ({
      pattern,
      key: webhookKey({ run, nodeRank, subscription: webhook }),
      commandOf: ({ rank: _rank, ...found }) => ({
        kind: "matchWebhook",
        matched: { subscription: webhook, pattern, ...found },
      }),
      turnOff: (problem) => {
        this.#deps.webhooks.turnOff(webhook);
        this.#deps.events.webhookOff(webhook, pattern, problem);
      },
    }));
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

  async #record(row: LineRow, key: string, command: LogSignalCommand): Promise<void> {
    const { experiment, trial, run } = row;
    const correlationid = isTaskId(experiment) ? `task-${experiment}` : `experiment-${experiment}`;
    const authid = `run:${allocationId(trial, run)}`;
    const identity = {
      commitId: deriveCommitId("log-policy", trial, key),
      meta: serviceMeta("logs", { correlationid, authid }),
    };
    await this.#deps.executor.execute(identity, async (work) => {
      const decided = await work.decide(logSignals, trial, command);
      return isRejection(decided) ? decided : undefined;
    });
    if (command.kind === "match") this.#deps.events.matched(command.matched.action);
    else this.#deps.events.webhookMatched();
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
