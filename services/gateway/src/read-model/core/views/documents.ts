import type { TokenLimit } from "@trainyard/access";
import type { Plain } from "@trainyard/contracts";
import type {
  Agent,
  Checkpoint,
  Disabled,
  Experiment,
  Job,
  Model,
  ModelAliasMove,
  ModelVersion,
  Run,
  Task,
  Token,
  Trial,
  Workspace,
} from "@trainyard/contracts/api";
import type { SealedCheckpoint } from "@trainyard/contracts/events";
import type { JsonObject } from "@trainyard/kernel";
import type { Tally, TrialPlace, UnitPlan } from "@trainyard/search";
import type { Attribute } from "./attributes.ts";

/** The document of an experiment: the API's message without computed fields, and the facts that the fold needs. */
export type ExperimentDocument = Omit<
  Plain<Experiment>,
  "notes" | "etag" | "archived" | "parent" | "config" | "values" | "phase"
> & {
  /** The units that the search plans and has trained; absent if its client tells the progress, or before its start. */
  readonly units?: {
    readonly plan: UnitPlan;
    readonly tally: Tally;
    readonly proposesNoMore: boolean;
  };
  /** The times from which proposed trials count, by number, until the trials are created; absent for none. */
  readonly startTimes?: Readonly<Record<string, number>>;
  /** The number of runs that train. */
  readonly running: number;
  /** The number of runs that have their slots and do not train yet. */
  readonly starting: number;
  /** The sum of the times of the runs until `workedAtMs`, the last start or end of a run. */
  readonly workedMs: number;
  readonly workedAtMs: number;
  /** The completed trials without a value of the metric, and with one that is no number; absent for none. */
  readonly warned?: { readonly missing: number; readonly notFinite: number };
  /** The digest of the experiment's model code; empty for none. */
  readonly contextDigest: string;
  readonly notes: string;
  readonly archived: boolean;
  /** The id of the parent, if the experiment is a fork; empty for none. */
  readonly parent: string;
  /** The requested deletion and the end of its grace; absent for none. Reads hide a deleted experiment. */
  readonly deletion?: { readonly graceEndMs: number; readonly reason: string };
  /** The number of changes of name, description, notes and labels. */
  readonly revision: number;
  /** The hyperparameters that are the same in every trial. */
  readonly constants: readonly Attribute[];
  /**
   * The attributes by which lists find the experiment: the constants, or the best trial's hyperparameters and value.
   */
  readonly attributes: readonly Attribute[];
};

/**
 * The configuration of an experiment or a task. It is a separate document, since it has up to 96 KiB that most reads
 * do not need.
 */
export type ConfigDocument = { readonly config?: JsonObject };

/** The best trials of an experiment in order, without failed ones. */
export type LeadersDocument = { readonly leaders: readonly Leader[] };

export type Leader = { readonly trial: string; readonly value: number };

/** A validation of a trial. Its values are a document of their own, since a report may have thousands of them. */
export type ValidationRecord = {
  readonly step: number;
  /** The value of the searched metric; NaN for none. */
  readonly value: number;
  /** The position of the report, which names the document of its values. */
  readonly at: number;
};

/** The values of a validation. */
export type ValidationDocument = { readonly scalars: Readonly<Record<string, number>> };

/** The first values of a validation, as many as a document may have. */
export type FirstValues = {
  readonly at: number;
  readonly values: Readonly<Record<string, number>>;
  /** Whether these are all values. */
  readonly isWhole: boolean;
};

export type TrialDocument = Omit<
  Plain<Trial>,
  "logPoliciesMatched" | "undelivered" | "phase" | "latestValidation" | "bestValidation"
> & {
  /** The latest runs; earlier ones are documents of their own. */
  readonly runs: readonly Plain<Run>[];
  /** The latest validation; absent before the first one. */
  readonly latest?: FirstValues;
  /** The best validation; absent before the first one with a finite value of the searched metric. */
  readonly best?: FirstValues;
  /** The rung, counted from 1, at which the search suspended the trial; absent if it has not. */
  readonly suspendedAtRung?: number;
  /**
   * The record validations in step order, each better than the one before. After a rollback the last one that is left
   * is the best. Of a trial with very many, some early ones are left out.
   */
  readonly records: readonly ValidationRecord[];
  /** The last few validations; after a rollback the last one that is left is the latest. */
  readonly recent: readonly ValidationRecord[];
  /** The checkpoints that the last run has left and that are not stored yet; absent for none. */
  readonly sealed?: readonly Plain<SealedCheckpoint>[];
  /** The place of the trial in its search; absent before the search has a plan. */
  readonly place?: TrialPlace;
  /** The progress that the trial's code reported last, with the run that did; absent for none. */
  readonly reported?: { readonly run: number; readonly fraction: number };
  /** The number of runs that train. */
  readonly running: number;
  /** The sum of the times of the runs until `workedAtMs`, the last start or end of a run. */
  readonly workedMs: number;
  readonly workedAtMs: number;
  /** Whether a value of the searcher's metric was NaN or infinite; absent for no. */
  readonly hasNotFinite?: boolean;
  /** The warning that counts in the experiment; absent before the first one. */
  readonly warned?: "missing" | "not_finite" | null;
  /** The model versions that are checkpoints of the trial. */
  readonly versions: readonly TrialVersion[];
};

export type TrialVersion = {
  readonly model: string;
  readonly number: number;
  readonly run: number;
  readonly step: number;
};

export type ModelDocument = Plain<Model> & {
  /** The number of moves and removals of the model's aliases; it numbers the documents of the moves. */
  readonly moves: number;
};

export type WorkspaceDocument = Omit<Plain<Workspace>, "etag"> & { readonly revision: number };

/** A run that waits in the queue of a pool, or is placed. */
export type QueuedRun = {
  /** The position of the event that queued the run. */
  readonly arrival: number;
  readonly slots: number;
  readonly placed: boolean;
  readonly held: number;
  readonly borrowed: number;
};

/** A job, which is listed while its experiment has runs in the queue. Its runs are documents of their own. */
export type JobDocument = Omit<Plain<Job>, "jobsAhead"> & {
  /** A key that sorts jobs in queue order. */
  readonly queue: string;
  /** The request of the run that was queued last. */
  readonly asked: {
    readonly priority: number;
    readonly weight: number;
    /** The limit of the job's slots; 0 for none. */
    readonly maxSlots: number;
    /** The position at which the first of the present runs was queued. */
    readonly arrival: number;
  };
  /** The job's place in the queue and what people have set, for present and later runs; null for nothing. */
  readonly change: {
    readonly pool: string;
    /** The position at which the job's first run was queued. */
    readonly first?: number;
    /**
     * The number of the pool's removals at the time of the change. A pool that was removed later has forgotten the
     * change.
     */
    readonly removals: number;
    readonly priority?: number;
    readonly weight?: number;
    /** The limit of the job's slots; 0 for none. */
    readonly maxSlots?: number;
    /** The place in the queue to which a person moved the job, on the scale of positions. */
    readonly place?: number;
  } | null;
};

/** The number of times that a pool with the document's id was removed. */
export type PoolDocument = { readonly removals: number };

/** The document of a task. Its configuration is a document of its own, as an experiment's. */
export type TaskDocument = Omit<Plain<Task>, "config" | "lastLogLines"> & {
  /** Whether a person had the task killed. */
  readonly killed: boolean;
};

/** A project. The parent of its row is the id of its workspace. */
export type ProjectDocument = WorkspaceDocument;

export type VersionDocument = Plain<ModelVersion>;

export type CheckpointDocument = Omit<Plain<Checkpoint>, "codeDigest"> & {
  /** The damage that the last verification found; empty for none. */
  readonly damage: string;
  /** Whether a person had some files of the checkpoint deleted. */
  readonly partial: boolean;
};

export type AgentDocument = Plain<Agent> & {
  /**
   * The disabled slots. A slot that the agent does not offer at present is included, since it is still disabled when it
   * returns.
   */
  readonly disabledSlots: readonly DisabledSlot[];
};

export type DisabledSlot = Plain<Disabled> & { readonly slot: string };

export type TokenDocument = Omit<Plain<Token>, "role" | "workspaces" | "lastUsedAtMs"> & {
  readonly secretDigest: string;
  /** The ids of the tokens that it descends from, its creator first: it ends with each of them. */
  readonly ancestors: readonly string[];
  /** The limits of the token: its own one and those of its ancestors. */
  readonly limits: readonly TokenLimit[];
};

export type Documents = {
  readonly experiment: ExperimentDocument;
  readonly config: ConfigDocument;
  readonly leaders: LeadersDocument;
  readonly trial: TrialDocument;
  /** An earlier run of a trial or a task. */
  readonly run: Plain<Run>;
  readonly validation: ValidationDocument;
  readonly checkpoint: CheckpointDocument;
  readonly agent: AgentDocument;
  readonly token: TokenDocument;
  readonly model: ModelDocument;
  readonly version: VersionDocument;
  readonly aliasMove: Plain<ModelAliasMove>;
  readonly workspace: WorkspaceDocument;
  readonly project: ProjectDocument;
  readonly job: JobDocument;
  readonly jobRun: QueuedRun;
  readonly pool: PoolDocument;
  readonly task: TaskDocument;
};

export type DocumentKind = keyof Documents;

export type DocumentKey = { readonly kind: DocumentKind; readonly id: string };

export type DocumentRow<Kind extends DocumentKind = DocumentKind> = {
  [Key in Kind]: {
    readonly kind: Key;
    readonly id: string;
    /** The entity whose list has the row, such as a trial's experiment; empty for none. */
    readonly parent: string;
    /** The place of the row in the default order of its list. */
    readonly ordinal: number;
    readonly doc: Documents[Key];
  };
}[Kind];

/** Returns the id of the document of a validation's values. `at` is the position of the report. */
export const validationKey = (trial: string, at: number): string => `${trial}/${at}`;

/** Returns the id of a version's document. The name of a model has no slash. */
export const versionKey = (model: string, number: number): string => `${model}/${number}`;

export const keyText = ({ kind, id }: DocumentKey): string => `${kind}/${id}`;

/** The kinds of documents whose id is the experiment's. */
const ofExperiment: ReadonlySet<DocumentKind> = new Set(["experiment", "config", "leaders"]);

/** The kinds of documents whose parent is a trial. */
const ofTrial: ReadonlySet<DocumentKind> = new Set(["run", "validation"]);

/** The rows of a projection: fetched ones and new ones. */
export class DocumentSet {
  readonly #rows = new Map<string, DocumentRow>();
  readonly #fetched = new Map<string, DocumentRow>();
  readonly #changed = new Set<string>();
  readonly #removed = new Set<string>();
  readonly #dropped = new Map<string, DocumentKey>();

  constructor(rows: Iterable<DocumentRow> = []) {
    for (const row of rows) this.add(row);
  }

  get<Kind extends DocumentKind>(kind: Kind, id: string): Documents[Kind] | undefined {
    return this.#rows.get(keyText({ kind, id }))?.doc as Documents[Kind] | undefined;
  }

  /** Adds a row that was fetched. */
  add(row: DocumentRow): void {
    this.#rows.set(keyText(row), row);
    this.#fetched.set(keyText(row), row);
  }

  /** Returns the row as it was fetched; undefined for a new row. */
  fetched(key: DocumentKey): DocumentRow | undefined {
    return this.#fetched.get(keyText(key));
  }

  put(row: DocumentRow): void {
    const key = keyText(row);
    this.#rows.set(key, row);
    this.#changed.add(key);
    this.#dropped.delete(key);
  }

  /** Removes a row; a later `put` of the same key adds it again. */
  remove({ kind, id }: DocumentKey): void {
    const key = keyText({ kind, id });
    this.#rows.delete(key);
    this.#changed.delete(key);
    this.#dropped.set(key, { kind, id });
  }

  /** Returns the keys of single rows that were removed. */
  dropped(): readonly DocumentKey[] {
    return [...this.#dropped.values()];
  }

  /** Replaces a document; without an existing document nothing happens. */
  replace<Kind extends DocumentKind>(
    kind: Kind,
    id: string,
    change: (doc: Documents[Kind]) => Documents[Kind],
  ): void {
    const row = this.#rows.get(keyText({ kind, id })) as DocumentRow<Kind> | undefined;
    if (row === undefined) return;
    this.put({ ...row, doc: change(row.doc as Documents[Kind]) } as DocumentRow);
  }

  /** Changes some fields of a document; without an existing document nothing happens. */
  update<Kind extends DocumentKind>(
    kind: Kind,
    id: string,
    change: (doc: Documents[Kind]) => Partial<Documents[Kind]>,
  ): void {
    this.replace(kind, id, (doc) => ({ ...doc, ...change(doc) }));
  }

  /** Removes an experiment. What belongs to it is hidden with it, and removed later. */
  removeExperiment(id: string): void {
    this.#removed.add(id);
    this.remove({ kind: "job", id });
    for (const [key, row] of this.#rows) {
      const isOfIt =
        (ofExperiment.has(row.kind) && row.id === id) ||
        (row.kind === "trial" && row.parent === id) ||
        // The later removal finds these by the row of their trial, which may not be stored yet.
        (ofTrial.has(row.kind) && row.parent.startsWith(`${id}.`));
      if (!isOfIt) continue;
      this.#rows.delete(key);
      this.#changed.delete(key);
    }
  }

  /** Returns the experiments that were removed. */
  removed(): readonly string[] {
    return [...this.#removed];
  }

  rows(): readonly DocumentRow[] {
    return [...this.#rows.values()];
  }

  changed(): readonly DocumentRow[] {
    return [...this.#changed].flatMap((key) => this.#rows.get(key) ?? []);
  }
}
