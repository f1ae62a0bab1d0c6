import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import type { ReplyOf, RequestInitOf } from "@trainyard/contracts";
import { useEffect } from "react";
import { client } from "../client.ts";
import { type Answer, type Point, withPoints } from "./series-points.ts";

type Update = ReplyOf<"followMetrics">;

/** Frames of this many milliseconds change the charts together. */
const gatherMs = 200;
const againAfterMs = 2_000;

/** Keeps the series of an experiment's trials fresh while the component is mounted and the experiment is running. */
export function usePoints(experiment: string, running: boolean): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (!running) return undefined;
    const stream = new AbortController();
    void follow(queries, experiment, stream.signal);
    return () => stream.abort();
  }, [experiment, running, queries]);
}

async function follow(
  queries: QueryClient,
  experiment: string,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const gathered = new Gathered(queries, experiment, signal);
    try {
      for await (const { message } of client.stream("followMetrics", { experiment }, { signal })) {
        gathered.add(message);
      }
      return;
    } catch {
      // Away, or too slow a reader: the stream opened next begins with a read of all series.
      await new Promise((resolve) => setTimeout(resolve, againAfterMs));
    }
  }
}

/** The updates of one stream until they are applied together. */
class Gathered {
  readonly #queries: QueryClient;
  readonly #experiment: string;
  readonly #signal: AbortSignal;
  #points: Point[] = [];
  /** What was answered before the stream opened may lack points that came between: the first update reads all again. */
  #stale = true;
  #waits = false;

  constructor(queries: QueryClient, experiment: string, signal: AbortSignal) {
    this.#queries = queries;
    this.#experiment = experiment;
    this.#signal = signal;
  }

  add({ point, superseded }: Update): void {
    if (point !== undefined) this.#points.push(point);
    if (superseded !== undefined) this.#stale = true;
    if (this.#points.length === 0 && !this.#stale) return;
    if (this.#waits) return;
    this.#waits = true;
    setTimeout(() => this.#apply(), gatherMs);
  }

  #apply(): void {
    this.#waits = false;
    if (this.#signal.aborted) return;
    const points = this.#points;
    const stale = this.#stale;
    this.#points = [];
    this.#stale = false;
    const mine = `${this.#experiment}.`;
    for (const query of this.#queries.getQueryCache().findAll({ queryKey: ["queryMetrics"] })) {
      const request = query.queryKey[1] as RequestInitOf<"queryMetrics">;
      if (request.trials?.some((trial) => trial.startsWith(mine)) !== true) continue;
      if (stale) void this.#queries.invalidateQueries({ queryKey: query.queryKey, exact: true });
      else {
        this.#queries.setQueryData<Answer>(query.queryKey, (answer) =>
          answer === undefined ? undefined : withPoints(answer, request, points),
        );
      }
    }
  }
}
