import { type JSX, useMemo, useState } from "react";
import { Chart } from "../../components/chart/chart.tsx";
import type { Range } from "../../components/chart/scale.ts";
import { ErrorNote } from "../../components/error-note.tsx";
import { counted } from "../../components/format.ts";
import { useCall } from "../../data/calls.ts";
import { bestLine } from "./best-line.ts";
import styles from "./overview.module.css";
import type { TabProps } from "./tabs.ts";
import { useReadAgain } from "./use-read-again.ts";

export function BestSoFar({ experiment }: TabProps): JSX.Element {
  const { id, metric } = experiment;
  const answer = useCall("getBestSoFar", { experiment: id });
  useReadAgain(experiment, answer.refetch);
  const [zoom, setZoom] = useState<Range | null>(null);
  const items = answer.data?.items;
  const validations = answer.data?.validations ?? 0;
  const lines = useMemo(() => {
    const line = bestLine(items ?? [], validations);
    return line === null ? [] : [line];
  }, [items, validations]);
  if (items?.length === 0) {
    return (
      <section className={styles["panel"]} aria-labelledby="best-so-far">
        <h2 id="best-so-far">Best so far</h2>
        <p className={styles["note"]}>No value yet. Values of failed trials do not count.</p>
      </section>
    );
  }
  return (
    <section className={styles["panel"]} aria-labelledby="best-so-far">
      <h2 id="best-so-far">Best so far</h2>
      {answer.error !== null && (
        <ErrorNote error={answer.error} onRetry={() => void answer.refetch()} />
      )}
      <Chart
        title={metric}
        lines={lines}
        xTitle="validations of all trials"
        whole
        zoom={zoom}
        onZoom={setZoom}
        syncKey={`experiment ${id} best`}
        caption={items === undefined ? "" : captionOf(items.length, validations)}
      />
    </section>
  );
}

const captionOf = (improvements: number, validations: number): string =>
  `Over ${counted(validations, "validation")} of all trials; improved ${improvements === 1 ? "once" : `${improvements} times`}.`;
