import { useMemo, useState } from "react";
import { smoothings } from "./smooth.ts";

export type DisplayProps = {
  /** The weight of the previous average, from 0 for none; absent: the chart keeps it for itself. */
  readonly smoothing?: number;
  readonly onSmoothing?: (smoothing: number) => void;
};

/** How a chart is displayed. */
export type Display = Required<DisplayProps> & {
  readonly log: boolean;
  readonly onLog: () => void;
  readonly asTable: boolean;
  readonly onTable: () => void;
  /** Changes the smoothing to the next of the usual strengths. */
  readonly onSmooth: () => void;
};

export function useDisplay(props: DisplayProps): Display {
  const [log, setLog] = useState(false);
  const [asTable, setAsTable] = useState(false);
  const [own, setOwn] = useState(0);
  const { smoothing = own, onSmoothing = setOwn } = props;
  return useMemo(
    () => ({
      log,
      asTable,
      smoothing,
      onSmoothing,
      onLog: () => setLog(!log),
      onTable: () => setAsTable(!asTable),
      onSmooth: () => onSmoothing(smoothings.find((next) => next > smoothing) ?? 0),
    }),
    [log, asTable, smoothing, onSmoothing],
  );
}
