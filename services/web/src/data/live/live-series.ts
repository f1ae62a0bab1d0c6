import type { Query, QueryClient } from "@tanstack/react-query";
import type { RequestInitOf } from "@trainyard/contracts";
import { own } from "../own.ts";
import type { CombinedReads } from "./combined-reads.ts";
import type { PointsFrame, PointsListener } from "./protocol.ts";
import { type Answer, type Point, withPoints } from "./series-points.ts";

/** Frames within this many milliseconds change the charts together. */
const gatherMs = 200;

/** Updates the cached series of an experiment's trials with its live points. */
export class LiveSeries implements PointsListener {
  readonly #queries: QueryClient;
  readonly #experiment: string;
  readonly #combined: CombinedReads;
  #points: Point[] = [];
  /**
   * Points that arrived during running reads. The answers may be older than the points, which are then applied to them
   * again.
   */
  #kept: ReadonlyMap<Query, readonly Point[]> = new Map();
  /** The position of the last update: a reopened stream begins a little before it. */
  #last = 0;
  /** All series have to be read again. */
  #isStale = false;
  /** No update has arrived yet: answers from before the stream opened may lack points. */
  #isNew = true;
  /** The position of the first update. */
  #first = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(queries: QueryClient, experiment: string, combined: CombinedReads) {
    this.#queries = queries;
    this.#experiment = experiment;
    this.#combined = combined;
  }

  points(items: PointsFrame["value"]["items"]): void {
    for (const { position, point, superseded } of items) {
      if (Number(position) <= this.#last) continue;
      this.#last = Number(position);
      if (this.#isNew && this.#first === 0) this.#first = this.#last;
      if (point !== undefined) this.#points.push(point);
      if (superseded !== undefined) this.#isStale = true;
    }
    if (this.#points.length > 0 || this.#isStale || this.#isNew) this.#applySoon();
  }

  reset(): void {
    this.#last = 0;
    this.#isStale = true;
    this.#applySoon();
  }

  end(): void {
    this.#isStale = true;
    this.#apply();
  }

  #applySoon(): void {
    this.#timer ??= setTimeout(() => this.#apply(), gatherMs);
  }

  #apply(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const points = this.#points;
    const isStale = this.#isStale;
    const first = this.#isNew ? this.#first : 0;
    this.#points = [];
    this.#isStale = false;
    this.#isNew = false;
    const before = isStale ? new Map<Query, readonly Point[]>() : this.#kept;
    const kept = new Map<Query, readonly Point[]>();
    const mine = `${this.#experiment}.`;
    for (const query of this.#queries.getQueryCache().findAll({ queryKey: ["queryMetrics"] })) {
      const request = query.queryKey[1] as RequestInitOf<"queryMetrics">;
      if (request.trials?.some((trial) => trial.startsWith(mine)) !== true) continue;
      // A chart that is shown again reads its series again, so the points of hidden charts cost nothing.
      if (!query.isActive() && query.state.fetchStatus === "idle") {
        query.invalidate();
        continue;
      }
      const lacks = isStale || this.#lacksPoints(query.state.data, first);
      if (request.combined === true) {
        // A point cannot be added to the mean of several trials.
        if (lacks || points.length > 0) this.#combined.again(this.#queries, query);
        continue;
      }
      if (lacks) {
        void this.#queries.invalidateQueries({ queryKey: query.queryKey, exact: true });
        continue;
      }
      const added = [...(before.get(query) ?? []), ...points];
      if (query.state.fetchStatus !== "idle") kept.set(query, added);
      this.#queries.setQueryData<Answer>(query.queryKey, (answer) => {
        const longer = answer === undefined ? undefined : withPoints(answer, request, added);
        return longer === answer ? undefined : longer;
      });
    }
    this.#kept = kept;
    if ([...kept.values()].some((added) => added.length > 0)) this.#applySoon();
  }

  /**
   * Reports whether points may be missing between the answer and the first position of a new stream; `first` is 0
   * before it opens.
   */
  #lacksPoints(data: unknown, first: number): boolean {
    if (first === 0) return false;
    const { streamPosition = "", streamPositions } = (data ?? {}) as Partial<Answer>;
    const position = own(streamPositions, this.#experiment) ?? streamPosition;
    return position === "" || Number(position) + 1 < first;
  }
}
