import { ChartLine, RotateCcw, Sheet } from "lucide-react";
import type { JSX } from "react";
import styles from "./chart.module.css";
import type { Display } from "./use-display.ts";

type Props = {
  readonly title: string;
  readonly display: Display;
  /** Resets the zoom; absent while the whole range is shown. */
  readonly onReset: (() => void) | undefined;
};

export function ChartHead({ title, display, onReset }: Props): JSX.Element {
  const { log, onLog, smoothing, onSmooth, asTable, onTable } = display;
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
