/**
 * Walks the hash chain. Each commit is checked against the stored hash before it, so that one edited commit is one
 * finding and does not make all later commits wrong.
 */
import { commitHash, type HashedCommit, type HashedEvent } from "./hash.ts";
import { genesis } from "./hash.ts";
import type { LogAnchor, VerifyFinding } from "./port.ts";

export type ChainCommit = Omit<HashedCommit, "events"> & {
  /** The number of events that the commit records. */
  readonly count: number;
  readonly hash: Uint8Array;
};
export type ChainEvent = HashedEvent & {
  readonly position: number;
  /** The position of the commit that the event records. */
  readonly commitPosition: number;
};

/** The commit before the first one to be checked. */
export type ChainStart = {
  readonly position: number;
  readonly timeMs: number;
  readonly hash: Uint8Array;
};

export class ChainWalk {
  #before: ChainStart;

  constructor(start: ChainStart) {
    this.#before = start;
  }

  /** The last position that was checked. */
  get position(): number {
    return this.#before.position;
  }

  /** Checks the next commit with the events stored since the previous commit. */
  step(commit: ChainCommit, events: readonly ChainEvent[]): readonly VerifyFinding[] {
    const before = this.#before;
    this.#before = commit;
    const { position } = commit;
    const first = position - commit.count + 1;
    if (first !== before.position + 1) {
      return [{ position, detail: `a commit is missing between ${before.position} and ${first}` }];
    }
    const missing = missingPosition(first, commit.count, events);
    if (missing !== undefined) {
      return [{ position: missing, detail: `the event at position ${missing} is missing` }];
    }
    if (events.length !== commit.count) {
      return [
        { position, detail: `the commit has ${events.length} events instead of ${commit.count}` },
      ];
    }
    const stranger = events.find((event) => event.commitPosition !== position);
    if (stranger !== undefined) {
      const { position: at, commitPosition } = stranger;
      return [{ position: at, detail: `the event at ${at} names the commit ${commitPosition}` }];
    }
    if (commit.timeMs < before.timeMs) {
      return [{ position, detail: "the time goes back" }];
    }
    const expected = commitHash(before.hash, { ...commit, events });
    if (Buffer.compare(expected, commit.hash) !== 0) {
      return [{ position, detail: "the commit or one of its events was changed later" }];
    }
    return [];
  }

  /** Ends the walk: events beyond the last commit belong to no commit. */
  end(strays: readonly number[]): readonly VerifyFinding[] {
    return strays.map((position) => ({
      position,
      detail: `the event at ${position} belongs to no commit`,
    }));
  }
}

const genesisHash = Buffer.from(genesis).toString("hex");

/** Compares an anchor with the hash of the commit that ends at its position; undefined if no commit ends there. */
export function anchorFinding(
  anchor: LogAnchor,
  hash: string | undefined,
  head: number,
): VerifyFinding | null {
  const { position } = anchor;
  if ((position === 0 ? genesisHash : hash) === anchor.hash) return null;
  if (head < position) {
    const detail = `the log ends at ${head}: ${position - head} events up to the anchor at ${position} are missing`;
    return { position: head, detail };
  }
  return { position, detail: `the commit at ${position} differs from the anchor's` };
}

function missingPosition(
  first: number,
  count: number,
  events: readonly ChainEvent[],
): number | undefined {
  const present = new Set(events.map((event) => event.position));
  for (let position = first; position < first + count; position += 1) {
    if (!present.has(position)) return position;
  }
  return undefined;
}
