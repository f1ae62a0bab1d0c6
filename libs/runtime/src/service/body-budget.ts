/**
 * Limits the memory of request bodies and of gRPC messages: the headers, or the head of a message, decide whether a
 * body fits, before any of it is read. A caller may use all the memory, but it is entitled only to its oldest body: the
 * others are cut off, while they arrive, if the first body of another caller needs their memory. So the bodies of one
 * caller never keep out another caller.
 */
import type { IncomingHttpHeaders } from "node:http";

export type BodyBudgetLimits = {
  /** Bodies up to this size have memory of their own, so that a caller with large ones can still make other calls. */
  readonly smallBytes: number;
  /** The maximum of all small bodies together, and of all larger ones, in bytes. */
  readonly smallBytesMax: number;
  readonly bytesMax: number;
};

export type BodyOwner = {
  /** The name of the caller: a token or a run. */
  readonly name: string;
  /** Closes the connection, or the stream of one, on which the body arrives. */
  readonly cut: () => void;
};

type Counted = { readonly owner: BodyOwner; readonly bytes: number; readonly body: HeldBody };

export class BodyBudget {
  readonly #smallBytes: number;
  readonly #small: Room;
  readonly #large: Room;

  constructor({ smallBytes, smallBytesMax, bytesMax }: BodyBudgetLimits) {
    this.#smallBytes = smallBytes;
    this.#small = new Room(smallBytesMax);
    this.#large = new Room(bytesMax);
  }

  get heldBytes(): number {
    return this.#small.heldBytes + this.#large.heldBytes;
  }

  /** Reserves memory for the body announced by the headers, up to the route's limit; null if there is not enough. */
  take(headers: IncomingHttpHeaders, limitBytes: number, owner: BodyOwner): HeldBody | null {
    const declared = headers["transfer-encoding"] === undefined;
    const bytes = declared ? Number(headers["content-length"] ?? 0) : limitBytes;
    // A body above the limit is not counted: its size is refused elsewhere.
    return this.reserve(bytes > limitBytes ? 0 : bytes, owner);
  }

  /** Reserves memory for a body of this size; null if there is not enough. */
  reserve(bytes: number, owner: BodyOwner): HeldBody | null {
    if (bytes === 0) return new HeldBody(() => {});
    const room = bytes <= this.#smallBytes ? this.#small : this.#large;
    return room.take(bytes, owner);
  }
}

class Room {
  readonly #bytesMax: number;
  /** The oldest body comes first. */
  readonly #held = new Set<Counted>();
  #heldBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  take(bytes: number, owner: BodyOwner): HeldBody | null {
    if (!this.#makeRoom(bytes, owner.name)) return null;
    const giveBack = (): void => {
      if (this.#held.delete(counted)) this.#heldBytes -= bytes;
    };
    const counted: Counted = { owner, bytes, body: new HeldBody(giveBack) };
    this.#held.add(counted);
    this.#heldBytes += bytes;
    return counted.body;
  }

  /** Returns whether a body fits, if necessary after others were cut off: first those of callers with many bodies. */
  #makeRoom(bytes: number, caller: string): boolean {
    const bytesMax = this.#bytesMax;
    if (this.heldBytes + bytes <= bytesMax) return true;
    const bodiesOf = new Map<string, number>();
    const ranked = [...this.#held].map((counted) => {
      const older = bodiesOf.get(counted.owner.name) ?? 0;
      bodiesOf.set(counted.owner.name, older + 1);
      return { counted, older };
    });
    if (bodiesOf.has(caller)) return false;
    const others = ranked
      .filter(({ counted, older }) => older > 0 && counted.body.isArriving)
      .toSorted((a, b) => b.older - a.older)
      .map(({ counted }) => counted);
    if (this.heldBytes - sumOf(others) + bytes > bytesMax) return false;
    for (const { owner, body } of others) {
      if (this.heldBytes + bytes <= bytesMax) break;
      body.closed();
      owner.cut();
    }
    return true;
  }
}

const sumOf = (held: readonly Counted[]): number =>
  held.reduce((total, { bytes }) => total + bytes, 0);

/** A reserved body, released when its processing ends, or when the connection closes before processing has begun. */
export class HeldBody {
  #giveBack: (() => void) | null;
  #inWork = false;
  #isClosed = false;

  constructor(giveBack: () => void) {
    this.#giveBack = giveBack;
  }

  get isArriving(): boolean {
    return !this.#inWork;
  }

  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#inWork = true;
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  /** Parses the whole body: until then, its memory is in use even if the connection closes. */
  async parsing<Result>(parse: () => Promise<Result>): Promise<Result> {
    this.#inWork = true;
    try {
      return await parse();
    } finally {
      this.#inWork = false;
      if (this.#isClosed) this.#release();
    }
  }

  closed(): void {
    this.#isClosed = true;
    if (!this.#inWork) this.#release();
  }

  #release(): void {
    this.#giveBack?.();
    this.#giveBack = null;
  }
}
