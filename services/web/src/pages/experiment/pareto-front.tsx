import type { ReplyOf } from "@trainyard/contracts";
import type { JSX } from "react";
import { scatterOf } from "../../canvas/scatter.ts";
import { trialNumberOf } from "../../components/chart/line.ts";
import { ErrorNote } from "../../components/error-note.tsx";
import { number } from "../../components/format.ts";
import { PathLink } from "../../components/path-link.tsx";
import { type PlainColumn, PlainTable } from "../../components/plain-table.tsx";
import { useCall } from "../../data/calls.ts";
import styles from "./overview.module.css";
import type { TabProps } from "./tabs.ts";
import { useReadAgain } from "./use-read-again.ts";

type Answer = ReplyOf<"getParetoFront">;

const size = { width: 360, height: 220, margin: 28 };

/** The trials that no other trial dominates; only for searches with several objectives. */
export function ParetoFront({ experiment }: TabProps): JSX.Element | null {
  const answer = useCall("getParetoFront", { experiment: experiment.id, all: true });
  useReadAgain(experiment, answer.refetch);
  const { data, error } = answer;
  if (error !== null) return <ErrorNote error={error} onRetry={() => void answer.refetch()} />;
  if (data === undefined || data.objectives.length < 2) return null;
  const [first, second] = data.objectives;
  const dots = scatterOf(
    data.items.map(({ values }) => [values[0] ?? Number.NaN, values[1] ?? Number.NaN] as const),
    size,
  );
  const front = data.items.filter(({ onFront }) => onFront);
  return (
    <section className={styles["panel"]} aria-labelledby="pareto">
      <h2 id="pareto">Pareto front</h2>
      <svg
        viewBox={`0 0 ${size.width} ${size.height}`}
        className={styles["scatter"]}
        role="img"
        aria-label={`${second?.metric} over ${first?.metric}; the table below has the front`}
      >
        {dots.map(({ x, y }, index) => (
          <circle
            key={data.items[index]?.trial}
            cx={x}
            cy={y}
            r={data.items[index]?.onFront === true ? 4 : 3}
            data-front={data.items[index]?.onFront}
          >
            <title>{data.items[index]?.trial}</title>
          </circle>
        ))}
        <text x={size.width / 2} y={size.height - 6} textAnchor="middle">
          {first?.metric} ({first?.smallerIsBetter === true ? "small" : "large"})
        </text>
        <text x={10} y={14}>
          {second?.metric} ({second?.smallerIsBetter === true ? "small" : "large"})
        </text>
      </svg>
      <FrontTable objectives={data.objectives} front={front} />
      <p className={styles["note"]}>
        {front.length} of {data.trials} trials: no other one is better in one objective and worse in
        none.
      </p>
    </section>
  );
}

type FrontProps = {
  readonly objectives: Answer["objectives"];
  readonly front: Answer["items"];
};

function FrontTable({ objectives, front }: FrontProps): JSX.Element {
  return (
    <PlainTable
      caption="Trials on the front"
      scroll={styles["scroll"]}
      rows={front}
      keyOf={({ trial }) => trial}
      columns={[
        {
          title: "Trial",
          cell: ({ trial }) => <PathLink to={`/trials/${trial}`}>{trialNumberOf(trial)}</PathLink>,
        },
        ...objectives.map(
          ({ metric }, at): PlainColumn<Answer["items"][number]> => ({
            title: metric,
            numeric: true,
            cell: ({ values }) => number(values[at]),
          }),
        ),
      ]}
    />
  );
}
