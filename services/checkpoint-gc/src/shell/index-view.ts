/** A read model of the log: the checkpoints of an experiment, their validations, and the trials that may need them. */
import { type AnyEvent, decodeEvent, shortNameOf } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import { recordedSource } from "@trainyard/experiment-config/recorded";
import { categoryOf, type Clock, Fault, idOf, parseTrialId } from "@trainyard/kernel";
import { type Logger, type TableNames, View, type ViewSpec } from "@trainyard/runtime";
import type { Pool } from "pg";
import type { Candidate } from "../core/retention-rule/condemned.ts";
import { gcLimits } from "../limits.ts";
import { mayBeForgotten } from "./leftovers.ts";

export type ShownRow = Pick<Candidate, "checkpoint" | "trial" | "step"> & {
  /** The reason why the checkpoint's deletion waits; empty if it does not. */
  readonly why: string;
};

type CandidateRow = Omit<Candidate, "value"> & { readonly scalars: string | null };

/** The queries that the condemnation and the deletion of checkpoints use. */
export type Index = Pick<
  CheckpointIndex,
  | "candidates"
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
> & { readonly view: Pick<View, "reach"> };

/** The categories whose events all wake the deletion or the sweeper, also when they change no row. */
const heard: ReadonlySet<string> = new Set(["storage", "retention", "measurement"]);

/** A retry that is further ahead than the longest delay was set by a wrong clock, so it is due at once. */
const triedBy = (now: string): string =>
  `(r.next_ms is null or r.next_ms <= ${now} or r.next_ms > ${now}::float8 + ${gcLimits.retryLastMs})`;

export class CheckpointIndex {
  readonly #pool: Pool;
  readonly view: View;

  /**
   * `onChange` is called when the retention of a checkpoint changes, an experiment is deleted or a storage is adopted.
   * `onCandidate` is called with each experiment that has a new checkpoint or a new validation.
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
        const [decoded, id] = [decodeEvent(event), idOf(event.stream)];
        for (const change of changesOf(decoded, id, table)) {
          await client.query(change.text, change.values);
        }
      }
    };
    const after = (events: readonly StoredEvent[]): void => {
      const categories = new Set(events.map(({ stream }) => categoryOf(stream)));
      for (const stored of events) {
        const experiment = experimentOf(stored);
        if (experiment !== undefined) onCandidate(experiment);
      }
      const adopted = categories.has("storage");
      const isDeleted = events.some(({ type }) => shortNameOf(type) === "ExperimentDeleted");
      if (adopted || isDeleted || categories.has("retention")) onChange(adopted);
    };
    const concerns = (event: StoredEvent): boolean =>
      heard.has(categoryOf(event.stream)) ||
      changesOf(decodeEvent(event), idOf(event.stream), (name) => name).length > 0;
    const tables = [
      { name: "checkpoints", mayBeGone: mayBeForgotten.checkpoints },
      { name: "validations", mayBeGone: mayBeForgotten.validations },
      { name: "referrers" },
      { name: "leftovers", mayBeGone: mayBeForgotten.leftovers },
      // A row is deleted when the TensorBoard files are.
      { name: "tensorboards", mayBeGone: "true" },
    ];
    const spec = {
      schema: "checkpoint_gc",
      view: "checkpoints",
      version: 1,
      tables,
      concerns,
      apply,
      after,
    };
    this.view = new View(spec, pool, clock, logger);
  }

  /**
   * Returns the checkpoints of an experiment that compete, each with the value measured at its step: all that are
   * whole, undamaged, and not deleted by a person.
   */
  async candidates(experiment: string, metric: string): Promise<readonly Candidate[]> {
    const rows = await this.#query<CandidateRow>(
      `select c.checkpoint, c.trial, c.run, c.step, measured.scalars
       from checkpoint_gc.checkpoints c
       left join lateral (
         select scalars from checkpoint_gc.validations v
         where v.trial = c.trial and v.step = c.step and v.run <= c.run
         order by v.run desc limit 1
       ) measured on true
       where c.experiment = $1 and c.retention in ('kept', 'condemned')
         and not c.manual and not c.damaged and c.files = 'all'`,
      [experiment],
    );
    return rows.map(({ scalars, ...row }) => ({ ...row, value: valueIn(scalars, metric) }));
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

  /** Returns all checkpoints of an experiment that are not condemned. */
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
      "select trial from checkpoint_gc.referrers where checkpoint = $1 order by trial",
      [checkpoint],
    );
    return rows.map(({ trial }) => trial);
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

  /** Returns a page of an experiment's checkpoints by id, deleted ones included; `checkpoint` narrows it to one. */
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

function valueIn(scalars: string | null, metric: string): number | null {
  if (scalars === null) return null;
  const value = (JSON.parse(scalars) as Readonly<Record<string, number>>)[metric];
  return value ?? null;
}

type Change = { readonly text: string; readonly values: unknown[] };

/** Returns the row changes of an event. They are idempotent: a replay in order ends in the same rows. */
function changesOf(event: AnyEvent, id: string, table: TableNames): readonly Change[] {
  const change = changeOf(event, id, table);
  if (event.type !== "ExperimentDeleted") return change === null ? [] : [change];
  const due = (name: string) =>
    `insert into ${table(name)} (experiment) values ($1) on conflict do nothing`;
  const added = ["tensorboards", "leftovers"].map((name) => ({ text: due(name), values: [id] }));
  return [...(change === null ? [] : [change]), ...added];
}

function changeOf(event: AnyEvent, id: string, table: TableNames): Change | null {
  switch (event.type) {
    case "CheckpointCompleted": {
      const { trial, run, step } = event.data;
      // A folder that a person uploaded belongs to no experiment and is not ranked.
      const experiment = trial === "" ? "" : parseTrialId(trial)?.experiment;
      if (experiment === undefined) return null;
      return {
        text: `insert into ${table("checkpoints")}
               (checkpoint, experiment, trial, run, step, retention, grace_end_ms)
               values ($1, $2, $3, $4, $5, 'kept', 0) on conflict do nothing`,
        values: [id, experiment, trial, run, step],
      };
    }
    case "CheckpointCondemned":
      return retention(table, id, "condemned", event.data.graceEndMs, event.data.by !== "");
    case "CheckpointSpared":
      return retention(table, id, "kept", 0);
    case "CheckpointDeletionStarted":
      return retention(table, id, "deleting", 0);
    case "CheckpointDeleted":
      return retention(table, id, "deleted", 0);
    case "CheckpointFilesDeletionStarted":
      return set(table, id, "files", "thinning");
    case "CheckpointFilesDeleted":
      return set(table, id, "files", "thinned");
    case "CheckpointDamaged":
      return set(table, id, "damaged", "true");
    case "CheckpointRepaired":
      return set(table, id, "damaged", "false");
    case "ValidationReported": {
      const { run, step, scalars } = event.data;
      const finite = Object.entries(scalars).filter(([, value]) => Number.isFinite(value));
      return {
        text: `insert into ${table("validations")} (trial, step, run, scalars)
               values ($1, $2, $3, $4) on conflict do nothing`,
        values: [id, step, run, JSON.stringify(Object.fromEntries(finite))],
      };
    }
    case "TrialCreated":
      return referrer(table, event.data.warmStartCheckpoint, id);
    case "RunRequested":
      return referrer(table, event.data.fromCheckpoint, id);
    case "ExperimentCreated":
      return referrer(table, recordedSource(event.data.config)?.checkpoint ?? "", id);
    // The end of an experiment removes no reference: a continued experiment starts trials from the checkpoint again.
    case "ExperimentDeleted":
    case "TrialEnded":
      return { text: `delete from ${table("referrers")} where trial = $1`, values: [id] };
    default:
      return null;
  }
}

function retention(
  table: TableNames,
  checkpoint: string,
  state: string,
  graceEndMs: number,
  manual = false,
): Change {
  return {
    text: `update ${table("checkpoints")} set retention = $2, grace_end_ms = $3, manual = $4
           where checkpoint = $1`,
    values: [checkpoint, state, graceEndMs, manual],
  };
}

function set(
  table: TableNames,
  checkpoint: string,
  column: "files" | "damaged",
  value: string,
): Change {
  return {
    text: `update ${table("checkpoints")} set ${column} = '${value}' where checkpoint = $1`,
    values: [checkpoint],
  };
}

function referrer(table: TableNames, checkpoint: string, trial: string): Change | null {
  if (checkpoint === "") return null;
  return {
    text: `insert into ${table("referrers")} (checkpoint, trial) values ($1, $2)
           on conflict do nothing`,
    values: [checkpoint, trial],
  };
}

/** Returns the experiment whose ranking an event may change. */
function experimentOf(stored: StoredEvent): string | undefined {
  const category = categoryOf(stored.stream);
  if (category === "measurement") return parseTrialId(idOf(stored.stream))?.experiment;
  if (category !== "checkpoint") return undefined;
  const event = decodeEvent(stored);
  if (event.type !== "CheckpointCompleted") return undefined;
  return parseTrialId(event.data.trial)?.experiment;
}
