/** The index into the log: which checkpoints an experiment has, what was measured of them, and who may need them. */
import { type AnyEvent, decodeEvent, shortNameOf } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import { recordedSource } from "@trainyard/experiment-config/recorded";
import { categoryOf, type Clock, Fault, idOf, parseTrialId } from "@trainyard/kernel";
import { type Logger, type TableNames, View, type ViewSpec } from "@trainyard/runtime";
import type { Pool } from "pg";
import type { Candidate } from "../core/policy/condemned.ts";
import { gcLimits } from "../limits.ts";

export type ShownRow = Pick<Candidate, "checkpoint" | "trial" | "step"> & {
  /** Why its deletion waits; empty if it does not. */
  readonly why: string;
};

type CandidateRow = Omit<Candidate, "value"> & { readonly scalars: string | null };

/** The queries of condemning and deleting. */
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

/** Streams of which each event is looked at, whether it changes rows or not. */
const heard: ReadonlySet<string> = new Set(["storage", "retention", "measurement"]);

/** Put off further ahead than any wait it was by a clock that was ahead: then it is tried now. */
const triedBy = (now: string): string =>
  `(r.next_ms is null or r.next_ms <= ${now} or r.next_ms > ${now}::float8 + ${gcLimits.retryLastMs})`;

export class CheckpointIndex {
  readonly #pool: Pool;
  readonly view: View;

  /**
   * Calls back when the retention of a checkpoint has changed, or a storage was adopted; and for each experiment that
   * has a new checkpoint, or a new value that may be one's.
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
      { name: "checkpoints" },
      { name: "validations" },
      { name: "referrers" },
      // Rows go with the files.
      { name: "tensorboards", mayBeGone: "true" },
    ];
    const spec = {
      schema: "checkpoint_gc",
      view: "checkpoints",
      // 2: an experiment that has ended still refers to the checkpoint that its trials begin from; TensorBoard files.
      version: 2,
      tables,
      concerns,
      apply,
      after,
    };
    this.view = new View(spec, pool, clock, logger);
  }

  /**
   * The checkpoints of an experiment that compete, each with the value that was measured at its step: those that are
   * there and whole, and that no person deletes.
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

  /** All checkpoints of an experiment whose deletion has not started. */
  async there(experiment: string): Promise<readonly string[]> {
    const rows = await this.#query<{ checkpoint: string }>(
      `select checkpoint from checkpoint_gc.checkpoints
       where experiment = $1 and retention in ('kept', 'condemned') order by checkpoint`,
      [experiment],
    );
    return rows.map(({ checkpoint }) => checkpoint);
  }

  /** All checkpoints of an experiment that are not condemned, whatever else is known of them. */
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

  /** Condemned ones whose grace is over, without those that are tried again later. */
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

  /** Those that are being deleted, without those that are tried again later. */
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

  /** Those of which some files are being deleted, without those that are tried again later. */
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

  /** A page of an experiment's checkpoints, deleted ones included, by id; `checkpoint` narrows it to one. */
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

  /** Deleted experiments whose TensorBoard files have to go, without those that are tried again later. */
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

  /** A checkpoint of an experiment, deleted or not; null where it never had one. */
  async anyOf(experiment: string): Promise<string | null> {
    const rows = await this.#query<{ checkpoint: string }>(
      "select checkpoint from checkpoint_gc.checkpoints where experiment = $1 limit 1",
      [experiment],
    );
    return rows[0]?.checkpoint ?? null;
  }

  /** When the next grace ends, or something is tried again; null when nothing is due. */
  async nextDueMs(nowMs: number): Promise<number | null> {
    const rows = await this.#query<{ at: number | null }>(
      `select min(case when ${triedBy("$1")} then c.grace_end_ms
         else greatest(c.grace_end_ms, r.next_ms) end) as at
       from checkpoint_gc.checkpoints c
       left join checkpoint_gc.retries r on r.checkpoint = c.checkpoint
       where c.retention in ('condemned', 'deleting') or c.files = 'thinning'
       union all
       select r.next_ms from checkpoint_gc.tensorboards t
       join checkpoint_gc.retries r on r.checkpoint = t.experiment
       order by at nulls last limit 1`,
      [nowMs],
    );
    return rows[0]?.at ?? null;
  }

  /** Tries a checkpoint again later, each time twice as much later. */
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

  /** The checkpoint is tried at once when it is next due; without one, each of them. */
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

/** Applied again in the same order, the events end in the same rows. */
function changesOf(event: AnyEvent, id: string, table: TableNames): readonly Change[] {
  const change = changeOf(event, id, table);
  if (event.type !== "ExperimentDeleted") return change === null ? [] : [change];
  const text = `insert into ${table("tensorboards")} (experiment) values ($1) on conflict do nothing`;
  return [...(change === null ? [] : [change]), { text, values: [id] }];
}

function changeOf(event: AnyEvent, id: string, table: TableNames): Change | null {
  switch (event.type) {
    case "CheckpointCompleted": {
      const { trial, run, step } = event.data;
      // A folder that a person uploaded is of no experiment, and ranks in none.
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
    // Not of an experiment that has ended: it may continue, and begin trials from the checkpoint again.
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

/** The experiment whose checkpoints an event may rank again. */
function experimentOf(stored: StoredEvent): string | undefined {
  const category = categoryOf(stored.stream);
  if (category === "measurement") return parseTrialId(idOf(stored.stream))?.experiment;
  if (category !== "checkpoint") return undefined;
  const event = decodeEvent(stored);
  if (event.type !== "CheckpointCompleted") return undefined;
  return parseTrialId(event.data.trial)?.experiment;
}
