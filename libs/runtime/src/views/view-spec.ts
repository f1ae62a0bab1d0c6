import type { StoredEvent } from "@trainyard/event-log";
import type { PoolClient } from "pg";

/** The name that a table of the view goes by in SQL: the live one's, or that of one that is folded beside it. */
export type TableNames = (table: string) => string;

export type ViewTable = {
  readonly name: string;
  /**
   * A condition on rows that may be missing in the live table although the log has them: work lists whose rows go when
   * the work is done.
   */
  readonly mayBeGone?: string;
};

export type ViewSpec = {
  readonly schema: string;
  readonly view: string;
  /**
   * The version of `apply`: it rises with every change after which the same events give other rows. Then the view is
   * built again beside the old one, which an older process uses until the new one takes its place.
   */
  readonly version: number;
  /**
   * All that `apply` writes to, each with a primary key; nothing else writes to them. They are made by the service's
   * migrations. One that is built again is a copy of the table's shape, with names of its own for indexes and
   * constraints.
   */
  readonly tables: readonly ViewTable[];
  /**
   * Whether an event may change rows, or is one that `after` wants: `apply` and `after` see only these. Pages without
   * one cost no transaction: the cursor's row stays where it is, and moves with the next page that changes rows.
   */
  readonly concerns: (event: StoredEvent) => boolean;
  /**
   * Changes the rows for events in order, within the given transaction, in tables of the given names. An event that it
   * cannot apply is set aside together with the later ones of its stream.
   */
  readonly apply: (
    client: PoolClient,
    events: readonly StoredEvent[],
    table: TableNames,
  ) => Promise<void>;
  /** After the commit. */
  readonly after?: (events: readonly StoredEvent[]) => void;
  /** The log went back: whatever was kept beside the rows, for example by `after`, is of another history. */
  readonly rewound?: () => void;
};
