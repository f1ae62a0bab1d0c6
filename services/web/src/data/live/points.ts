import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { CombinedReads } from "./combined-reads.ts";
import { live } from "./connection.ts";
import { LiveSeries } from "./live-series.ts";

const combined = new CombinedReads();

/**
 * Keeps the series of an experiment's trials fresh while the component is mounted and the experiment runs; at its end
 * they are read once more.
 */
export function usePoints(experiment: string, running: boolean): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (!running) return undefined;
    const series = new LiveSeries(queries, experiment, combined);
    const stop = live.followPoints(experiment, series);
    return () => {
      stop();
      series.end();
    };
  }, [experiment, running, queries]);
}
