import type { Plain } from "@trainyard/contracts";
import type { JsonObject } from "@trainyard/kernel";
import type { Attribute } from "../lists/attributes.ts";
import type {
  Agent,
  Checkpoint,
  Disabled,
  Experiment,
  Job,
  Model,
  ModelAliasMove,
  ModelVersion,
  Token,
  Trial,
  Workspace,
} from "@trainyard/contracts/api";

/** The row of an entity: the API's message, and what the fold needs besides. */
export type ExperimentDocument = Omit<
  Plain<Experiment>,
  "notes" | "etag" | "archived" | "parent" | "config" | "values"
> & {
  /** Trials that the search will make at most; 0 while unknown. */
  readonly trialsMax: number;
  /**
   * The digest of its packed model code; like the fields below it is absent in documents that an earlier version of the
   * view wrote.
   */
  readonly contextDigest?: string;
  readonly notes?: string;
  readonly archived?: boolean;
  /** The experiment that it was forked from; empty for none. */
  readonly parent?: string;
  /** Its deletion may be taken back until then; absent for none. Reads hide it. */
  readonly deletion?: { readonly graceEndMs: number; readonly reason: string };
  /** The number of changes of its words. */
  readonly revision?: number;
  /** Its constants among the hyperparameters. */
  readonly constants?: readonly Attribute[];
  /** The attributes by which lists find it: the constants, or the best trial's hyperparameters and value. */
  readonly attributes?: readonly Attribute[];
};

/** The configuration of an experiment: up to 96 KiB that most reads do not need. */
export type ConfigDocument = { readonly config?: JsonObject };

/** The best trials of an experiment in order, without failed ones. */
export type LeadersDocument = { readonly leaders: readonly Leader[] };

export type Leader = { readonly trial: string; readonly value: number };

/** A validation that was the best so far when it came. */
export type BestRecord = {
  readonly step: number;
  readonly value: number;
  readonly scalars: Readonly<Record<string, number>>;
};

export type TrialDocument = Plain<Trial> & {
  /** In step order, each better than the one before: after a rollback the last one left is the best. */
  readonly records: readonly BestRecord[];
  /** The last few validations, for the same reason. */
  readonly recent: readonly BestRecord[];
  /** The versions of models that are checkpoints of this trial. */
  readonly versions?: readonly TrialVersion[];
};

export type TrialVersion = {
  readonly model: string;
  readonly number: number;
  readonly run: number;
  readonly step: number;
};

export type ModelDocument = Plain<Model> & {
  /** How often an alias was moved or removed: the number of the latest of these documents. */
  readonly moves: number;
};

export type WorkspaceDocument = Omit<Plain<Workspace>, "etag"> & { readonly revision: number };

/** A run that waits in the queue of a pool, or has a place. */
export type QueuedRun = {
  readonly id: string;
  readonly pool: string;
  readonly workspace: string;
  readonly owner: string;
  readonly slots: number;
  readonly priority: number;
  readonly weight: number;
  /** 0 for no limit. */
  readonly maxSlots: number;
  /** The log position at which it was queued. */
  readonly arrival: number;
  readonly placed: boolean;
  readonly held: number;
  readonly borrowed: number;
};

/** In lists while it has runs. */
export type JobDocument = Omit<Plain<Job>, "jobsAhead"> & {
  /** Sorts jobs as the queues do. */
  readonly queue: string;
  readonly runs: readonly QueuedRun[];
  /** The changes by users of its runs, those to come too; null for none. */
  readonly change: {
    readonly pool: string;
    /** The number of removals of the pool at that time: a pool that was removed since forgot the change. */
    readonly removals: number;
    readonly priority?: number;
    readonly weight?: number;
    /** 0 for no limit. */
    readonly maxSlots?: number;
    /** The place of its runs in the queue, on the scale of arrivals. */
    readonly place?: number;
  } | null;
};

/** How often it was removed. */
export type PoolDocument = { readonly removals: number };

/** Its parent is the id of its workspace. */
export type ProjectDocument = WorkspaceDocument;

export type VersionDocument = Plain<ModelVersion>;

/** Absent fields are those of documents that an earlier version of the view wrote. */
export type CheckpointDocument = Omit<Plain<Checkpoint>, "pins" | "codeDigest"> & {
  readonly pins?: Plain<Checkpoint>["pins"];
  /** The result of the last verification; empty for none. */
  readonly damage?: string;
  /** A person had some of its files deleted. */
  readonly partial?: boolean;
};

/**
 * Absent fields are those of documents that an earlier version of the view wrote: they are read until its rebuild is
 * done.
 */
export type AgentDocument = Omit<Plain<Agent>, "labels"> & {
  readonly labels?: Plain<Agent>["labels"];
  /** Also slots that the agent does not offer now: they are still disabled when they return. */
  readonly disabledSlots?: readonly DisabledSlot[];
};

export type DisabledSlot = Plain<Disabled> & { readonly slot: string };

export type TokenDocument = Plain<Token> & { readonly secretDigest: string };

export type Documents = {
  readonly experiment: ExperimentDocument;
  readonly config: ConfigDocument;
  readonly leaders: LeadersDocument;
  readonly trial: TrialDocument;
  readonly checkpoint: CheckpointDocument;
  readonly agent: AgentDocument;
  readonly token: TokenDocument;
  readonly model: ModelDocument;
  readonly version: VersionDocument;
  readonly aliasMove: Plain<ModelAliasMove>;
  readonly workspace: WorkspaceDocument;
  readonly project: ProjectDocument;
  readonly job: JobDocument;
  readonly pool: PoolDocument;
};

export type DocumentKind = keyof Documents;

export type DocumentKey = { readonly kind: DocumentKind; readonly id: string };

export type DocumentRow<Kind extends DocumentKind = DocumentKind> = {
  [Key in Kind]: {
    readonly kind: Key;
    readonly id: string;
    /** The entity that lists it: a trial's experiment. Empty for none. */
    readonly parent: string;
    /** Its place in a list. */
    readonly ordinal: number;
    readonly doc: Documents[Key];
  };
}[Kind];

/** The id of a version's document. A model's name has no slash. */
export const versionKey = (model: string, number: number): string => `${model}/${number}`;

export const keyText = ({ kind, id }: DocumentKey): string => `${kind}/${id}`;

/** The documents of an experiment that have its id. */
const ofExperiment: ReadonlySet<DocumentKind> = new Set(["experiment", "config", "leaders"]);

/** The rows of a projection: those fetched beforehand, and the new ones. */
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

  /** A row as it was fetched. */
  add(row: DocumentRow): void {
    this.#rows.set(keyText(row), row);
    this.#fetched.set(keyText(row), row);
  }

  /** Returns the row as it was before any change; absent for a row that is new. */
  fetched(key: DocumentKey): DocumentRow | undefined {
    return this.#fetched.get(keyText(key));
  }

  put(row: DocumentRow): void {
    const key = keyText(row);
    this.#rows.set(key, row);
    this.#changed.add(key);
    this.#dropped.delete(key);
  }

  /** One that is put again is there again. */
  remove({ kind, id }: DocumentKey): void {
    const key = keyText({ kind, id });
    this.#rows.delete(key);
    this.#changed.delete(key);
    this.#dropped.set(key, { kind, id });
  }

  /** Single documents that were removed. */
  dropped(): readonly DocumentKey[] {
    return [...this.#dropped.values()];
  }

  /** Replaces a document that exists; an event of an entity that was never created changes nothing. */
  replace<Kind extends DocumentKind>(
    kind: Kind,
    id: string,
    change: (doc: Documents[Kind]) => Documents[Kind],
  ): void {
    const row = this.#rows.get(keyText({ kind, id })) as DocumentRow<Kind> | undefined;
    if (row === undefined) return;
    this.put({ ...row, doc: change(row.doc as Documents[Kind]) } as DocumentRow);
  }

  /** The same for some of its fields. */
  update<Kind extends DocumentKind>(
    kind: Kind,
    id: string,
    change: (doc: Documents[Kind]) => Partial<Documents[Kind]>,
  ): void {
    this.replace(kind, id, (doc) => ({ ...doc, ...change(doc) }));
  }

  /** An experiment and its trials. What follows in their streams changes nothing. */
  removeExperiment(id: string): void {
    this.#removed.add(id);
    this.remove({ kind: "job", id });
    for (const [key, row] of this.#rows) {
      const isOfIt =
        (ofExperiment.has(row.kind) && row.id === id) ||
        (row.kind === "trial" && row.parent === id);
      if (!isOfIt) continue;
      this.#rows.delete(key);
      this.#changed.delete(key);
    }
  }

  /** The experiments that were removed. */
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
