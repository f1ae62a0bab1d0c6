import { ChartLine, RotateCcw, Sheet } from "lucide-react";
import type { JSX } from "react";
import styles from "./chart.module.css";

/** The display options of a chart. */
export type Shown = {
  readonly log: boolean;
  /** The weight of the previous average; 0 for no smoothing. */
  readonly smoothing: number;
  readonly asTable: boolean;
};

type Props = {
  readonly title: string;
  readonly shown: Shown;
  readonly onLog: () => void;
  readonly onSmooth: () => void;
  readonly onTable: () => void;
  /** Resets the zoom; absent while the whole range is shown. */
  readonly onReset: (() => void) | undefined;
};

export function ChartHead({ title, shown, onLog, onSmooth, onTable, onReset }: Props): JSX.Element {
  const { log, smoothing, asTable } = shown;
  return (
    <div className={styles["head"]}>
      <h3 className={styles["title"]}>{title}</h3>
      {onReset !== undefined && (
        <button type="button" onClick={onReset}>
          <RotateCcw size={12} aria-hidden /> Show all
        </button>
      )}
      <button type="button" aria-pressed={log} onClick={onLog} title="Key l">
        Log
      </button>
      <button type="button" aria-pressed={smoothing > 0} onClick={onSmooth} title="Key s">
        Smooth{smoothing > 0 && ` ${smoothing}`}
      </button>
      <button type="button" aria-pressed={asTable} onClick={onTable}>
        {asTable ? <ChartLine size={12} aria-hidden /> : <Sheet size={12} aria-hidden />}
        {asTable ? "Chart" : "Table"}
      </button>
    </div>
  );
}
