/** A read model of the log: the checkpoints of an experiment, their validations, and the trials that may need them. */
import { shortNameOf } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import { categoryOf, type Clock, Fault, runId } from "@trainyard/kernel";
import { type Logger, View, type ViewSpec } from "@trainyard/runtime";
import type { Pool } from "pg";
import { awaitedOf } from "../core/retention-rule/awaited.ts";
import type { Candidate } from "../core/retention-rule/condemned.ts";
import { gcLimits } from "../limits.ts";
import { changesOf, experimentsOf } from "./index-rows.ts";
import { mayBeForgotten } from "./leftovers.ts";

export type ShownRow = Pick<Candidate, "checkpoint" | "trial" | "step"> & {
  /** The reason why the checkpoint's deletion waits; empty if it does not. */
  readonly why: string;
};

/** A checkpoint with the validations at its step, and what its run's log says about one that is missing. */
type CandidateRow = Omit<Candidate, "value" | "awaits"> & {
  /** The values of each that has the metric, the latest first. */
  readonly scalars: readonly string[] | null;
  readonly next_rank: number | null;
  readonly next_number: number | null;
  readonly last_validation: string | null;
  readonly ended_ms: number | null;
  readonly arrived: Readonly<Record<string, number>> | null;
};

/** The queries that the condemnation and the deletion of checkpoints use. */
export type Index = Pick<
  CheckpointIndex,
  | "candidates"
  | "saves"
  | "kept"
  | "referrers"
  | "due"
  | "deleting"
  | "thinning"
  | "nextDueMs"
  | "putOff"
  | "forgetRetries"
  | "tensorboards"
  | "forgetTensorboard"
  | "anyOf"
  | "overdue"
  | "forgetOverdue"
> & { readonly view: Pick<View, "reach"> };

/** The categories whose events all wake the deletion or the sweeper, also when they change no row. */
const heard: ReadonlySet<string> = new Set(["storage", "retention", "measurement"]);

const deletions: ReadonlySet<string> = new Set(["ExperimentDeleted", "TaskDeleted"]);

/** A retry that is further ahead than the longest delay was set by a wrong clock, so it is due at once. */
const triedBy = (now: string): string =>
  `(r.next_ms is null or r.next_ms <= ${now} or r.next_ms > ${now}::float8 + ${gcLimits.retryLastMs})`;

export class CheckpointIndex {
  readonly #pool: Pool;
  readonly view: View;

  /**
   * `onChange` is called when the retention of a checkpoint changes, an experiment is deleted or a storage is adopted.
   * `onCandidate` is called with each experiment that has a new checkpoint, a new validation or an ended run.
   */
  constructor(
    pool: Pool,
    clock: Clock,
    logger: Logger,
    onChange: (adopted: boolean) => void,
    onCandidate: (experiment: string) => void = () => {},
  ) {
    this.#pool = pool;
    const apply: ViewSpec["apply"] = async (client, events, table) => {
      for (const event of events) {
        for (const change of changesOf(event, table)) {
          await client.query(change.text, change.values);
        }
      }
    };
    const after = (events: readonly StoredEvent[]): void => {
      const categories = new Set(events.map(({ stream }) => categoryOf(stream)));
      for (const stored of events) {
        for (const experiment of experimentsOf(stored)) onCandidate(experiment);
      }
      const adopted = categories.has("storage");
      const isDeleted = events.some(({ type }) => deletions.has(shortNameOf(type)));
      if (adopted || isDeleted || categories.has("retention")) onChange(adopted);
    };
    const concerns = (event: StoredEvent): boolean =>
      heard.has(categoryOf(event.stream)) || changesOf(event, (name) => name).length > 0;
    const tables = [
      { name: "checkpoints", mayBeGone: mayBeForgotten.checkpoints },
      { name: "validations", mayBeGone: mayBeForgotten.ofTrials },
      { name: "declarations", mayBeGone: mayBeForgotten.ofTrials },
      { name: "arrived", mayBeGone: mayBeForgotten.ofTrials },
      { name: "run_ends", mayBeGone: mayBeForgotten.ofTrials },
      { name: "referrers" },
      // A row is deleted when the experiment was judged again.
      { name: "overdue", mayBeGone: "true" },
      { name: "leftovers", mayBeGone: mayBeForgotten.leftovers },
      // A row is deleted when the TensorBoard files are.
      { name: "tensorboards", mayBeGone: "true" },
    ];
    const spec = {
      schema: "checkpoint_gc",
      view: "checkpoints",
      version: 2,
      tables,
      concerns,
      apply,
      after,
    };
    this.view = new View(spec, pool, clock, logger);
  }

  /**
   * Returns the checkpoints of an experiment that compete, each with the value measured at its step, in the order in
   * which they became complete: all that are whole, undamaged, and not deleted by a person. A checkpoint whose own run
   * has not measured the value has the reason why it may still arrive. The next declaration of a run is the next one in
   * the log, except one that was recorded earlier and sent later.
   */
  async candidates(
    experiment: string,
    metric: string,
    nowMs: number,
  ): Promise<readonly Candidate[]> {
    const rows = await this.#query<CandidateRow>(
      `select c.checkpoint, c.trial, c.run, c.step, measured.scalars,
         next.node_rank as next_rank, next.number as next_number,
         e.last_validation, e.ended_ms, a.arrived
       from checkpoint_gc.checkpoints c
       left join lateral (
         select array_agg(v.scalars order by v.position desc)
             filter (where strpos(v.scalars, $2) > 0) as scalars,
           v.run = c.run and bool_or(strpos(v.scalars, $2) > 0) as own
         from checkpoint_gc.validations v
         where v.trial = c.trial and v.step = c.step and v.run <= c.run
         group by v.run order by v.run desc limit 1
       ) measured on true
       left join lateral (
         select d.node_rank, d.number from checkpoint_gc.declarations o
         join checkpoint_gc.declarations d on d.trial = o.trial and d.run = o.run
           and d.position > o.position and (d.number, d.step) >= (o.number, o.step)
         where o.checkpoint = c.checkpoint and measured.own is not true
         order by d.position limit 1
       ) next on true
       left join checkpoint_gc.run_ends e on e.trial = c.trial and e.run = c.run
       left join lateral (
         select json_object_agg(node_rank, number) as arrived from checkpoint_gc.arrived r
         where r.trial = c.trial and r.run = c.run and measured.own is not true
       ) a on true
       where c.experiment = $1 and c.retention in ('kept', 'condemned')
         and not c.manual and not c.damaged and c.files = 'all'
       order by c.position`,
      [experiment, `${JSON.stringify(metric)}:`],
    );
    return rows.map((row) => {
      const { checkpoint, trial, run, step, scalars } = row;
      const value = valueIn(scalars ?? [], metric);
      const awaits = value === null ? awaitedBy(row, nowMs) : undefined;
      return { checkpoint, trial, run, step, value, awaits };
    });
  }

  /**
   * Returns the saves of a task that compete: all that are whole, undamaged, and not deleted by a person. They have no
   * values.
   */
  async saves(task: string): Promise<readonly Candidate[]> {
    const rows = await this.#query<Pick<Candidate, "checkpoint" | "run" | "step">>(
      `select checkpoint, run, step from checkpoint_gc.checkpoints
       where experiment = $1 and retention in ('kept', 'condemned')
         and not manual and not damaged and files = 'all'
       order by position`,
      [task],
    );
    return rows.map((row) => ({ ...row, trial: task, value: null }));
  }

  /** Returns all checkpoints of an experiment whose deletion has not started. */
  async there(experiment: string): Promise<readonly string[]> {
    const rows = await this.#query<{ checkpoint: string }>(
      `select checkpoint from checkpoint_gc.checkpoints
       where experiment = $1 and retention in ('kept', 'condemned') order by checkpoint`,
      [experiment],
    );
    return rows.map(({ checkpoint }) => checkpoint);
  }

  /** Returns all checkpoints of an experiment or task that are not condemned. */
  async kept(experiment: string): Promise<readonly string[]> {
    const rows = await this.#query<{ checkpoint: string }>(
      `select checkpoint from checkpoint_gc.checkpoints
       where experiment = $1 and retention = 'kept' order by checkpoint`,
      [experiment],
    );
    return rows.map(({ checkpoint }) => checkpoint);
  }

  async referrers(checkpoint: string): Promise<readonly string[]> {
    const rows = await this.#query<{ trial: string }>(
      `select trial from checkpoint_gc.referrers where checkpoint = $1 and not resting
       order by trial`,
      [checkpoint],
    );
    return rows.map(({ trial }) => trial);
  }

  /** Returns experiments with a run that ended at this time or before, and that were not judged since. */
  async overdue(endedMs: number): Promise<readonly string[]> {
    const rows = await this.#query<{ experiment: string }>(
      `select distinct experiment from checkpoint_gc.overdue where ended_ms <= $1
       order by experiment limit $2`,
      [endedMs, gcLimits.page],
    );
    return rows.map(({ experiment }) => experiment);
  }

  async forgetOverdue(experiment: string, endedMs: number): Promise<void> {
    await this.#query(
      "delete from checkpoint_gc.overdue where experiment = $1 and ended_ms <= $2",
      [experiment, endedMs],
    );
  }

  /** Returns the condemned checkpoints whose grace is over, except those that wait for a retry. */
  async due(nowMs: number): Promise<readonly string[]> {
    const rows = await this.#query<{ checkpoint: string }>(
      `select c.checkpoint from checkpoint_gc.checkpoints c
       left join checkpoint_gc.retries r on r.checkpoint = c.checkpoint
       where c.retention = 'condemned' and c.grace_end_ms <= $1
         and ${triedBy("$1")}
       order by c.grace_end_ms limit $2`,
      [nowMs, gcLimits.page],
    );
    return rows.map(({ checkpoint }) => checkpoint);
  }

  /** Returns the checkpoints that are being deleted, except those that wait for a retry. */
  async deleting(nowMs: number): Promise<readonly string[]> {
    const rows = await this.#query<{ checkpoint: string }>(
      `select c.checkpoint from checkpoint_gc.checkpoints c
       left join checkpoint_gc.retries r on r.checkpoint = c.checkpoint
       where c.retention = 'deleting' and ${triedBy("$1")}
       order by c.checkpoint limit $2`,
      [nowMs, gcLimits.page],
    );
    return rows.map(({ checkpoint }) => checkpoint);
  }

  /** Returns the checkpoints of which some files are being deleted, except those that wait for a retry. */
  async thinning(nowMs: number): Promise<readonly string[]> {
    const rows = await this.#query<{ checkpoint: string }>(
      `select c.checkpoint from checkpoint_gc.checkpoints c
       left join checkpoint_gc.retries r on r.checkpoint = c.checkpoint
       where c.files = 'thinning' and c.retention = 'kept' and ${triedBy("$1")}
       order by c.checkpoint limit $2`,
      [nowMs, gcLimits.page],
    );
    return rows.map(({ checkpoint }) => checkpoint);
  }

  /**
   * Returns a page of the checkpoints of an experiment or task by id, deleted ones included; `checkpoint` narrows it to
   * one.
   */
  async shown(
    experiment: string,
    checkpoint: string,
    after: string,
    limit: number,
  ): Promise<readonly ShownRow[]> {
    return this.#query<ShownRow>(
      `select c.checkpoint, c.trial, c.step, coalesce(r.why, '') as why
       from checkpoint_gc.checkpoints c
       left join checkpoint_gc.retries r on r.checkpoint = c.checkpoint
       where c.experiment = $1 and ($2 = '' or c.checkpoint = $2) and c.checkpoint > $3
       order by c.checkpoint limit $4`,
      [experiment, checkpoint, after, limit],
    );
  }

  /**
   * Returns the deleted experiments whose TensorBoard files are still to be removed, except those that wait for a
   * retry.
   */
  async tensorboards(nowMs: number): Promise<readonly string[]> {
    const rows = await this.#query<{ experiment: string }>(
      `select t.experiment from checkpoint_gc.tensorboards t
       left join checkpoint_gc.retries r on r.checkpoint = t.experiment
       where ${triedBy("$1")} order by t.experiment limit $2`,
      [nowMs, gcLimits.page],
    );
    return rows.map(({ experiment }) => experiment);
  }

  async forgetTensorboard(experiment: string): Promise<void> {
    await this.#query("delete from checkpoint_gc.tensorboards where experiment = $1", [experiment]);
  }

  /** Returns any checkpoint of an experiment, deleted or not; null if it never had one. */
  async anyOf(experiment: string): Promise<string | null> {
    const rows = await this.#query<{ checkpoint: string }>(
      "select checkpoint from checkpoint_gc.checkpoints where experiment = $1 limit 1",
      [experiment],
    );
    return rows[0]?.checkpoint ?? null;
  }

  /** Returns when the next grace ends or the next retry is due; null if nothing waits. */
  async nextDueMs(nowMs: number): Promise<number | null> {
    const rows = await this.#query<{ at: number | null }>(
      `select min(case when ${triedBy("$1")} then c.grace_end_ms
         else greatest(c.grace_end_ms, r.next_ms) end) as at
       from checkpoint_gc.checkpoints c
       left join checkpoint_gc.retries r on r.checkpoint = c.checkpoint
       where c.retention in ('condemned', 'deleting')
         or (c.files = 'thinning' and c.retention = 'kept')
       union all
       select r.next_ms from checkpoint_gc.tensorboards t
       join checkpoint_gc.retries r on r.checkpoint = t.experiment
       order by at nulls last limit 1`,
      [nowMs],
    );
    return rows[0]?.at ?? null;
  }

  /** Puts off a checkpoint's deletion, each time for twice as long. */
  async putOff(checkpoint: string, nowMs: number, why: string): Promise<void> {
    const { retryFirstMs, retryLastMs } = gcLimits;
    await this.#query(
      `insert into checkpoint_gc.retries as r (checkpoint, tries, next_ms, why)
       values ($1, 1, $2::float8 + $3, $5)
       on conflict (checkpoint) do update set tries = r.tries + 1, why = excluded.why,
         next_ms = $2::float8 + least($3 * power(2, least(r.tries, 30)), $4)`,
      [checkpoint, nowMs, retryFirstMs, retryLastMs, why],
    );
  }

  /** Makes the retries of a checkpoint due at once; null means every checkpoint. */
  async forgetRetries(checkpoint: string | null): Promise<void> {
    await this.#query(
      "delete from checkpoint_gc.retries where $1::text is null or checkpoint = $1",
      [checkpoint],
    );
  }

  async #query<Row extends object>(text: string, values: unknown[]): Promise<readonly Row[]> {
    try {
      return (await this.#pool.query<Row>(text, values)).rows;
    } catch (cause) {
      throw new Fault("database_away", "the index of checkpoints does not answer", {
        retry: "later",
        cause,
      });
    }
  }
}

function valueIn(scalars: readonly string[], metric: string): number | null {
  for (const text of scalars) {
    const value = (JSON.parse(text) as Readonly<Record<string, number>>)[metric];
    if (value !== undefined) return value;
  }
  return null;
}

function awaitedBy(row: CandidateRow, nowMs: number): string | undefined {
  const { trial, run, next_rank: rank, next_number: number } = row;
  const next = number === null ? null : number === 0 ? "" : `${rank}-${number}`;
  const end =
    row.ended_ms === null ? null : { lastValidation: row.last_validation, endedMs: row.ended_ms };
  return awaitedOf({ id: runId(trial, run), next, end, arrived: row.arrived ?? {} }, nowMs);
}
