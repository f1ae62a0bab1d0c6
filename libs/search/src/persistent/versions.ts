/**
 * Structures that are changed in place while each of their versions stays what it was: H. G. Baker, "Shallow binding makes
 * functional arrays fast" (1991). The newest version holds the structure itself; an older one holds the change that makes
 * it out of a newer one. Whoever looks at an older version turns the chain round first: the changes between the two are
 * undone, and the newer one keeps what redoes them. So going on from the newest version costs one change and no copy,
 * which is what a fold does, and every other use is right, only slower.
 *
 * A version stays valid for a number of later changes (`changesKept`), far more than a decision makes; to look at it after
 * that is a bug, and said so. If old versions led to newer ones without an end, each that is dead but not yet collected
 * would keep all that came after it. An empty version is never tied to those that follow: constants are empty.
 */
import { assert } from "@trainyard/kernel";

/** A structure that can be changed in place. */
export interface Root<Change> {
  readonly size: number;
  /** Makes the change, and of the change the one that undoes it. */
  apply(change: Change): void;
  copy(): Root<Change>;
  toJSON(): unknown;
}

/** Every so many changes the chain is led through a gate, which can be taken away. */
const SEGMENT = 64;

/** For how many later changes a version of a structure is valid at least. */
export function changesKept(size: number): number {
  return Math.min(1_024, 256 + 4 * size);
}

/** All that came out of one structure: the gates of the last segments, each to the first version of its segment. */
class Line<R extends Root<Change>, Change> {
  changes = 0;
  firstGate = 0;
  gates: Version<R, Change>[] = [];

  /** A new gate's number. */
  gateTo(version: Version<R, Change>): number {
    this.gates.push(version);
    if (keepingAll) grown.add(this);
    else this.trim();
    return this.firstGate + this.gates.length - 1;
  }

  trim(): void {
    const most = Math.ceil(changesKept(this.gates.at(-1)?.size ?? 0) / SEGMENT) + 1;
    const gone = this.gates.length - most;
    if (gone <= 0) return;
    this.gates.splice(0, gone);
    this.firstGate += gone;
  }
}

let keepingAll = false;

/** Lines whose gates were all kept by the last `keepAll`. */
const grown = new Set<{ trim(): void }>();

/** From here until the next call every version of now stays valid, however many changes are made before `keepSome`. */
export function keepAll(): void {
  if (grown.size > 0) {
    for (const line of grown) line.trim();
    grown.clear();
  }
  keepingAll = true;
}

export function keepSome(): void {
  keepingAll = false;
}

export class Version<R extends Root<Change>, Change> {
  readonly size: number;
  readonly line: Line<R, Change>;
  root: R | null;
  /** What makes this version out of the next one, where it has no root. */
  change: Change | null = null;
  /** The next one itself, or the number of the gate to it. */
  next: Version<R, Change> | number = 0;

  constructor(root: R, line: Line<R, Change> = new Line()) {
    this.size = root.size;
    this.line = line;
    this.root = root;
  }

  toJSON(): unknown {
    return rootOf(this).toJSON();
  }
}

/** The structure of a version: to be read at once, since it is another's after the next change. */
export function rootOf<R extends Root<Change>, Change>(version: Version<R, Change>): R {
  return version.root ?? turned(version);
}

/** The version that a change makes out of another. */
export function changed<R extends Root<Change>, Change>(
  version: Version<R, Change>,
  change: Change,
): Version<R, Change> {
  const root = rootOf(version);
  if (version.size === 0) {
    const own = root.copy() as R;
    own.apply(change);
    return new Version(own);
  }
  const { line } = version;
  root.apply(change);
  const after = new Version<R, Change>(root, line);
  line.changes += 1;
  version.root = null;
  version.change = change;
  version.next = line.changes % SEGMENT === 0 ? line.gateTo(after) : after;
  return after;
}

function nextOf<R extends Root<Change>, Change>({
  next,
  line,
}: Version<R, Change>): Version<R, Change> {
  const version = typeof next === "number" ? line.gates[next - line.firstGate] : next;
  if (version === undefined) {
    assert(false, "a version is looked at before too many changes have been made after it");
  }
  return version;
}

/** Makes the version the one that holds the structure. */
function turned<R extends Root<Change>, Change>(version: Version<R, Change>): R {
  const chain: Version<R, Change>[] = [];
  let newest = version;
  while (newest.root === null) {
    chain.push(newest);
    newest = nextOf(newest);
  }
  const { root } = newest;
  for (let older = chain.pop(); older !== undefined; older = chain.pop()) {
    root.apply(older.change as Change);
    newest.root = null;
    newest.change = older.change;
    newest.next = older;
    older.root = root;
    older.change = null;
    older.next = 0;
    newest = older;
  }
  return root;
}
