/**
 * The classes of cost. Each call names its class in its option `cost`. The router gives turns by this table, so that no
 * caller keeps the others waiting, whatever it asks for.
 */
import { Cost } from "@trainyard/contracts/routes";
import { type Caller, countedAs } from "./caller.ts";
import { FairQueue, type FairQueueBounds } from "./fair-queue.ts";
import { OpenStreams, type StreamBounds } from "./open-streams.ts";

/**
 * Calls that wait for their turn, or are counted while they are open. In both, a caller takes at most half of the
 * places that the others leave.
 */
type Row = { readonly turns: FairQueueBounds } | { readonly open: StreamBounds };

export const costRows: Readonly<Record<number, Row>> = {
  [Cost.READ]: { turns: { max: 64, ofOneMax: 32, waitingOfOneMax: 512 } },
  // The queries of lists have a queue of their own, because other calls make them, too.
  [Cost.LIST]: { turns: { max: 8, ofOneMax: 2, waitingOfOneMax: 32 } },
  // Each takes at most about 0.1 s of its service's time; combined series have a queue of their own.
  [Cost.SERIES]: { turns: { max: 16, ofOneMax: 8, waitingOfOneMax: 128 } },
  [Cost.ANALYSIS]: { turns: { max: 2, ofOneMax: 1, waitingOfOneMax: 8 } },
  // A page that shows a comparison reads it again with each change of its experiments.
  [Cost.COMPARISON]: { turns: { max: 4, ofOneMax: 1, waitingOfOneMax: 8 } },
  [Cost.CODE]: { turns: { max: 1, ofOneMax: 1, waitingOfOneMax: 32 } },
  [Cost.DIFF]: { turns: { max: 2, ofOneMax: 1, waitingOfOneMax: 8 } },
  [Cost.COMMAND]: { turns: { max: 128, ofOneMax: 32, waitingOfOneMax: 512 } },
  [Cost.SUBMISSION]: { turns: { max: 8, ofOneMax: 4, waitingOfOneMax: 256 } },
  [Cost.DOWNLOAD]: { open: { ofOneMax: 16, ofAllMax: 128 } },
  [Cost.RUN]: { turns: { max: 20_000, ofOneMax: 64, waitingOfOneMax: 1_024 } },
  // Each waits up to 30 s. All workers of a run may ask, and its other calls must not wait for them.
  [Cost.SIGNAL]: { turns: { max: 20_000, ofOneMax: 1_024, waitingOfOneMax: 1_024 } },
  [Cost.STREAM]: { open: { ofOneMax: 100, ofAllMax: 2_000 } },
  // Frames of Watch use memory.
  [Cost.WATCH]: { open: { ofOneMax: 64, ofAllMax: 512 } },
  [Cost.PASS]: { turns: { max: 1, ofOneMax: 1, waitingOfOneMax: 4 } },
};

export class Costs {
  readonly #queues = new Map<Cost, FairQueue>();
  readonly #open = new Map<Cost, OpenStreams>();
  readonly #rows: typeof costRows;

  constructor(rows = costRows) {
    this.#rows = rows;
  }

  /**
   * Makes a call in its caller's turn, or counts it while it is made. A call whose client leaves before its turn gives
   * it up. Throws a Problem of 503 if too many calls of the caller wait, and of 429 at the limit of the caller or of
   * the gateway for open ones.
   */
  async during<Result>(
    cost: Cost,
    { caller, signal }: { readonly caller: Caller; readonly signal: AbortSignal },
    call: () => Promise<Result>,
  ): Promise<Result> {
    const row = this.#rows[cost];
    if (row === undefined) throw new TypeError(`no row has the cost ${cost}`);
    const who = countedAs(caller);
    if ("open" in row) {
      using _counted = this.#count(cost, who, row.open);
      return await call();
    }
    const queue = this.#queues.get(cost) ?? new FairQueue(row.turns);
    this.#queues.set(cost, queue);
    return await queue.run(who, call, signal);
  }

  /** Begins a call in its turn, or counts it, as `during` does. The call lasts until it is disposed. */
  async enter(cost: Cost, asked: Parameters<Costs["during"]>[1]): Promise<Disposable> {
    const begun = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const whole = this.during(cost, asked, () => {
      begun.resolve();
      return over.promise;
    });
    await Promise.race([begun.promise, whole]);
    return { [Symbol.dispose]: over.resolve };
  }

  #count(cost: Cost, who: string, bounds: StreamBounds): Disposable {
    const what = cost === Cost.DOWNLOAD ? "downloads" : "such streams";
    const open = this.#open.get(cost) ?? new OpenStreams(bounds, what);
    this.#open.set(cost, open);
    return open.open(who);
  }
}
