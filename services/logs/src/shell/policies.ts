/**
 * Compares stored lines with the log policies of their experiment, and records the first match of each policy, node and run in
 * `logsignal-<trial>`. A batch is acknowledged after that: lines whose matching was cut off by a death come again, as their
 * agent repeats the batch, and what was recorded before is recognised. So a line that matches is told once, and never missed.
 *
 * Texts are compared in a thread, in turns that are shared by all runs; a run whose lines take long is itself what waits, as
 * its agent sends the next batch after the answer. What a batch may take is bounded: beyond it the rest of its lines is not
 * compared, and counted, since a batch that is never acknowledged would be sent for ever.
 */
import type { EventData } from "@trainyard/contracts";
import { decodeEvent } from "@trainyard/contracts";
import { deriveCommitId, type EventLog } from "@trainyard/event-log";
import { type LogPolicy, recordedConfig } from "@trainyard/experiment-config/recorded";
import { isRejection, runId, streamName } from "@trainyard/kernel";
import { type Executor, newTraceparent, serviceMeta } from "@trainyard/runtime";
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
  /** A configuration does not change. */
  readonly #policies = new LRUCache<string, readonly LogPolicy[]>({
    max: logsLimits.experimentsKnownMax,
  });
  /** What was recorded, by run: nothing is looked for twice. */
  readonly #told = new LRUCache<string, Set<string>>({ max: logsLimits.runsToldMax });

  constructor(deps: PolicyDeps) {
    this.#deps = deps;
  }

  /** Resolves once all matches of these lines, which are stored, are in the log. */
  async apply(agent: string, rows: readonly LineRow[]): Promise<void> {
    for (const ofNode of Map.groupBy(rows, nodeOf).values()) await this.#applyTo(agent, ofNode);
  }

  /** Lines of one node of one run. */
  async #applyTo(agent: string, rows: readonly LineRow[]): Promise<void> {
    const [first] = rows;
    if (first === undefined) return;
    const { run, nodeRank } = first;
    const told = this.#toldOf(nodeOf(first));
    const policies = (await this.#policiesOf(first.experiment)).filter(
      ({ name, action = "" }) => !told.has(signalKey({ run, nodeRank, policy: name, action })),
    );
    if (policies.length === 0) return;
    const { found, unmatched } = await this.#deps.patterns.matchFirst(
      policies.map(({ pattern }) => pattern),
      rows.map(({ text }) => text),
      logsLimits.policyMsPerBatch,
    );
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

  #toldOf(node: string): Set<string> {
    const known = this.#told.get(node) ?? new Set<string>();
    this.#told.set(node, known);
    return known;
  }

  /** None of an experiment that the log does not have; a later one may have it, so that is not remembered. */
  async #policiesOf(experiment: string): Promise<readonly LogPolicy[]> {
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

const nodeOf = ({ trial, run, nodeRank }: LineRow): string => `${runId(trial, run)} ${nodeRank}`;
