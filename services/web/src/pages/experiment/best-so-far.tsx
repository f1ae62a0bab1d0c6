import type { ReplyOf } from "@trainyard/contracts";
import { type JSX, useMemo, useState } from "react";
import { Chart } from "../../components/chart/chart.tsx";
import { chartTrialOf, type Line } from "../../components/chart/line.ts";
import type { Range } from "../../components/chart/scale.ts";
import { ErrorNote } from "../../components/error-note.tsx";
import { useCall } from "../../data/calls.ts";
import styles from "./overview.module.css";
import type { TabProps } from "./tabs.ts";
import { useReadAgain } from "./use-read-again.ts";

type Best = ReplyOf<"getBestSoFar">["items"];

export function BestSoFar({ experiment }: TabProps): JSX.Element {
  const { id, metric } = experiment;
  const answer = useCall("getBestSoFar", { experiment: id });
  useReadAgain(experiment, answer.refetch);
  const [zoom, setZoom] = useState<Range | null>(null);
  const items = answer.data?.items;
  const lines = useMemo(() => (items === undefined ? [] : linesOf(items)), [items]);
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
        caption={items === undefined ? "" : captionOf(items.length)}
      />
    </section>
  );
}

const captionOf = (improvements: number): string =>
  `Over the validations of all trials; improved ${improvements === 1 ? "once" : `${improvements} times`}.`;

/** A step at each improvement, in the hue of the trial with the last improvement. */
function linesOf(items: Best): readonly Line[] {
  const last = items.at(-1);
  if (last === undefined) return [];
  const steps = items.flatMap(({ observations, value }, index) => {
    const before = items[index - 1];
    const corner = before === undefined ? [] : [[observations, before.value] as const];
    return [...corner, [observations, value] as const];
  });
  const x = steps.map(([observations]) => observations);
  const y = steps.map(([, value]) => value);
  return [
    {
      ...chartTrialOf(last.trial),
      id: "best",
      of: last.trial,
      group: "best",
      ...{ x, from: x, to: x, count: x.map(() => 1) },
      y,
      low: y,
      high: y,
      points: y.length,
      marks: [],
    },
  ];
}
