/**
 * Entries folded from the whole log, by key, and saved now and then, so that a new leader reads only the rest. A saved
 * fold names the last event that it has folded. If the log has another event at that position, the fold is of another
 * history and is ignored. That happens when the log was restored from a backup, or lost events in a failover.
 */
import type { EventLog, StoredEvent } from "@trainyard/event-log";
import type { Logger } from "../logging.ts";
import { runtimeLimits } from "../limits.ts";
import { isOfThisLog, ofAnotherHistory } from "./saved-fold.ts";

export type LogFoldSpec<Entry> = {
  /** The snapshot's stream: a name in a category of the service. The fold is of no single stream. */
  readonly stream: string;
  readonly schema: string;
  /** The name of the fold in messages. */
  readonly what: string;
  readonly fold: (entries: Map<string, Entry>, event: StoredEvent) => void;
};

/** The event is empty if the position is 0. */
export type SavedLogFold<Entry> = {
  readonly event: string;
  readonly position: number;
  readonly entries: Readonly<Record<string, Entry>>;
};

type LogFoldDeps = { readonly log: EventLog; readonly logger: Logger };

const nothing = { event: "", position: 0, entries: {} };

/**
 * The version of every save. The log refuses a lower version than the saved one, and after a restore the positions of
 * the old history may be higher. With equal versions the latest save replaces any other. Only the leader saves, and the
 * text has its position. A late save of a former leader only makes its successor read more.
 */
const version = 0;

/** Returns the saved fold; null if none was saved. A fold of another history is returned as empty. */
export async function savedLogFold<Entry>(
  { log, logger }: LogFoldDeps,
  { stream, schema, what }: LogFoldSpec<Entry>,
): Promise<SavedLogFold<Entry> | null> {
  const found = await log.loadSnapshot(stream, schema);
  if (found === null) return null;
  const fold = JSON.parse(found.body) as SavedLogFold<Entry>;
  const { position } = fold;
  const [event] = position === 0 ? [] : await log.readAll(position - 1, 1);
  if (position === 0 || isOfThisLog(found.body, event)) return fold;
  logger.error({ position, detail: ofAnotherHistory(what, position) }, "saved_fold_ignored");
  return nothing;
}

export class LogFold<Entry> {
  readonly entries: Map<string, Entry>;
  readonly #deps: LogFoldDeps;
  readonly #spec: LogFoldSpec<Entry>;
  #event: string;
  #position: number;
  #timeMs = 0;
  #savedPosition: number;
  /** Saves run one after the other, so that the last one is the newest. */
  #saving: Promise<void> = Promise.resolve();

  private constructor(
    deps: LogFoldDeps,
    spec: LogFoldSpec<Entry>,
    { event, position, entries }: SavedLogFold<Entry>,
  ) {
    this.#deps = deps;
    this.#spec = spec;
    this.#event = event;
    this.#position = position;
    this.#savedPosition = position;
    this.entries = new Map(Object.entries(entries));
  }

  /** Opens the fold at a position, by default the head of the log. Without a saved fold the whole log is read. */
  static async open<Entry>(
    deps: LogFoldDeps,
    spec: LogFoldSpec<Entry>,
    to?: number,
  ): Promise<LogFold<Entry>> {
    const saved = (await savedLogFold(deps, spec)) ?? nothing;
    const fold = new LogFold(deps, spec, saved);
    await fold.#readTo(to ?? (await deps.log.head()));
    // The save spares the next leader the pages that were read, if this leader's lease ends soon.
    if (saved === nothing || fold.#isSaveDue) await fold.save();
    return fold;
  }

  /** Returns what a fold of the log from its beginning to a position has. */
  static async rebuilt<Entry>(
    deps: LogFoldDeps,
    spec: LogFoldSpec<Entry>,
    position: number,
  ): Promise<ReadonlyMap<string, Entry>> {
    const fold = new LogFold(deps, spec, nothing);
    await fold.#readTo(position);
    return fold.entries;
  }

  /** The time of the newest event, by the log's clock. */
  get timeMs(): number {
    return this.#timeMs;
  }

  /** Folds an event, and saves the fold if the log has grown enough. A repeated event changes nothing. */
  observe(stored: StoredEvent): void {
    this.#fold(stored);
    if (!this.#isSaveDue) return;
    this.save().catch((error: unknown) => {
      const { stream } = this.#spec;
      this.#deps.logger.warn({ err: error, stream }, "fold_not_saved");
    });
  }

  /** Saves the state that the next leader starts from. A failure only makes that start slower. */
  save(): Promise<void> {
    const { stream, schema } = this.#spec;
    this.#saving = this.#saving
      .catch(() => {})
      .then(async () => {
        const [event, position] = [this.#event, this.#position];
        this.#savedPosition = position;
        const entries = Object.fromEntries(this.entries);
        const saved: SavedLogFold<Entry> = { event, position, entries };
        await this.#deps.log.saveSnapshot(stream, version, schema, JSON.stringify(saved));
      });
    return this.#saving;
  }

  get #isSaveDue(): boolean {
    return this.#position - this.#savedPosition >= runtimeLimits.foldSavedEveryEvents;
  }

  #fold(stored: StoredEvent): void {
    const { id, position, timeMs } = stored;
    if (position <= this.#position) return;
    this.#position = position;
    this.#event = id;
    this.#timeMs = timeMs;
    this.#spec.fold(this.entries, stored);
  }

  async #readTo(position: number): Promise<void> {
    const { log } = this.#deps;
    const [last] = this.#position === 0 ? [] : await log.readAll(this.#position - 1, 1);
    this.#timeMs = last?.timeMs ?? 0;
    while (this.#position < position) {
      const limit = Math.min(runtimeLimits.pageEvents, position - this.#position);
      const page = await log.readAll(this.#position, limit);
      for (const stored of page) this.#fold(stored);
      if (page.length === 0) return;
    }
  }
}
