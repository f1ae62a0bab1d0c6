import type { StoredEvent } from "@trainyard/event-log";
import type { PoolClient } from "pg";

/** Returns the SQL name of a view's table: the live one, or the one of a rebuild. */
export type TableNames = (table: string) => string;

export type ViewTable = {
  readonly name: string;
  /**
   * A condition on rows that may be missing in the live table although a fold produces them: work lists delete
   * completed rows.
   */
  readonly mayBeGone?: string;
};

export type ViewSpec = {
  readonly schema: string;
  readonly view: string;
  /**
   * The version of `apply`, which rises with every change after which the same events give other rows. The view is then
   * rebuilt beside the old one, which older processes use until the swap.
   */
  readonly version: number;
  /**
   * All tables that `apply` writes to, each with a primary key; nothing else may write to them. The service's
   * migrations create them. A rebuild copies a table's shape, with other names for indexes and constraints.
   */
  readonly tables: readonly ViewTable[];
  /**
   * Returns whether an event may change rows or is needed by `after`: `apply` and `after` receive only these. Pages
   * without such events cost no transaction: the cursor's row stays unchanged and moves with the next page that changes
   * rows.
   */
  readonly concerns: (event: StoredEvent) => boolean;
  /**
   * Changes the rows for events in order, within the given transaction, in tables with the given names. An event that
   * cannot be applied is set aside together with later events of its stream.
   */
  readonly apply: (
    client: PoolClient,
    events: readonly StoredEvent[],
    table: TableNames,
  ) => Promise<void>;
  /** Called after the commit. */
  readonly after?: (events: readonly StoredEvent[]) => void;
  /** Called after a rewind: all state outside the rows, for example that of `after`, belongs to another history. */
  readonly rewound?: () => void;
};
