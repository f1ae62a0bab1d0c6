import { ChartLine, RotateCcw, Sheet } from "lucide-react";
import { type JSX, memo, type RefObject } from "react";
import { ChartMenu, type ShownChart } from "./chart-menu.tsx";
import styles from "./chart.module.css";
import { smoothingMax } from "./smooth.ts";
import type { Display } from "./use-display.ts";

type Props = {
  readonly title: string;
  readonly display: Display;
  readonly isZoomed: boolean;
  readonly onReset: () => void;
  readonly shown: () => ShownChart;
  readonly host: RefObject<HTMLElement | null>;
};

/** The title and the options of a chart. They are not drawn again while the chart is moved. */
export const ChartHead = memo(function HeadOfChart(props: Props): JSX.Element {
  const { title, display, isZoomed, onReset, shown, host } = props;
  const { log, onLog, smoothing, onSmoothing, asTable, onTable } = display;
  return (
    <div className={styles["head"]}>
      <h3 className={styles["title"]} title={title}>
        {title}
      </h3>
      {isZoomed && (
        <button type="button" onClick={onReset}>
          <RotateCcw size={12} aria-hidden /> Show all
        </button>
      )}
      <button type="button" aria-pressed={log} onClick={onLog} title="Key l">
        Log
      </button>
      <label className={styles["smooth"]} title="Key s">
        <span className={styles["wide"]}>Smooth</span>
        <input
          type="range"
          aria-label="Smoothing"
          min={0}
          max={smoothingMax}
          step={0.01}
          value={smoothing}
          onChange={({ target }) => onSmoothing(Number(target.value))}
        />
        <output>{smoothing > 0 ? smoothing.toFixed(2) : ""}</output>
      </label>
      <button type="button" aria-pressed={asTable} onClick={onTable}>
        {asTable ? <ChartLine size={12} aria-hidden /> : <Sheet size={12} aria-hidden />}
        {asTable ? "Chart" : "Table"}
      </button>
      <ChartMenu {...{ title, shown, host }} />
    </div>
  );
});
