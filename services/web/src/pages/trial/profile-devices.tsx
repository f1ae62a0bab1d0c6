import { type JSX, useMemo, useState } from "react";
import type { ReplyOf } from "@trainyard/contracts";
import { sparkLayout } from "../../canvas/sparkline.ts";
import { Chart } from "../../components/chart/chart.tsx";
import type { Range } from "../../components/chart/scale.ts";
import { count } from "../../components/format.ts";
import { type PlainColumn, PlainTable } from "../../components/plain-table.tsx";
import {
  type Curve,
  curvesOf,
  devicesOf,
  lineOfCurve,
  measured,
  quantityKey,
  quantityText,
  type SystemPoint,
} from "./profile-figures.ts";
import styles from "./trial.module.css";

type TrialProfile = ReplyOf<"getTrialProfile">;
type Summary = TrialProfile["summaries"][number];

type Props = {
  readonly profile: TrialProfile;
  readonly run: number;
  readonly points: readonly SystemPoint[] | undefined;
};

const none: ReadonlySet<string> = new Set();

/** A table for each node and each of its devices. Chosen curves are charts, which zoom together. */
export function Devices({ profile, run, points }: Props): JSX.Element {
  const curves = useMemo(() => curvesOf(points ?? [], run), [points, run]);
  const devices = useMemo(() => devicesOf(profile.summaries), [profile]);
  const [open, setOpen] = useState(none);
  const [zoom, setZoom] = useState<Range | null>(null);
  const toggle = (key: string): void => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    setOpen(next);
  };
  return (
    <>
      <p className={styles["muted"]}>Click a curve to draw it as a chart with axes and zoom.</p>
      {devices.map(({ title, summaries }) => (
        <section key={title}>
          <h2>{title}</h2>
          <div className={styles["charts"]}>
            {summaries
              .map((summary) => ({ summary, key: keyOf(summary) }))
              .filter(({ key }) => open.has(key))
              .map(({ summary, key }) => (
                <QuantityChart
                  key={key}
                  {...{ summary, zoom }}
                  curve={curves.get(key) ?? []}
                  onZoom={setZoom}
                />
              ))}
          </div>
          <PlainTable
            caption={title}
            rows={summaries}
            keyOf={keyOf}
            columns={[
              { title: "Measured", cell: textOf },
              {
                title: "Over time",
                cell: (summary) => (
                  <button
                    type="button"
                    className={styles["sparkButton"]}
                    aria-pressed={open.has(keyOf(summary))}
                    aria-label={`Chart of ${textOf(summary)}`}
                    onClick={() => toggle(keyOf(summary))}
                  >
                    <Spark points={curves.get(keyOf(summary)) ?? []} />
                  </button>
                ),
              },
              figure("Min", ({ min }) => min),
              figure("Mean", ({ mean }) => mean),
              figure("Max", ({ max }) => max),
              { title: "Samples", numeric: true, cell: ({ samples }) => count(samples) },
            ]}
          />
        </section>
      ))}
    </>
  );
}

const keyOf = (summary: Summary): string =>
  quantityKey({ ...summary, name: summary.value?.name ?? "" });

const textOf = ({ group, value }: Summary): string => quantityText(group, value?.name ?? "");

const figure = (
  title: string,
  of: (value: NonNullable<Summary["value"]>) => number,
): PlainColumn<Summary> => ({
  title,
  numeric: true,
  cell: ({ value }) => value && measured(value.name, of(value)),
});

type ChartProps = {
  readonly summary: Summary;
  readonly curve: Curve;
  readonly zoom: Range | null;
  readonly onZoom: (zoom: Range | null) => void;
};

function QuantityChart({ summary, curve, zoom, onZoom }: ChartProps): JSX.Element {
  const { group, value, samples } = summary;
  const { unit, line } = useMemo(
    () => lineOfCurve(group, value?.name ?? "", curve),
    [group, value, curve],
  );
  return (
    <Chart
      title={unit === "" ? textOf(summary) : `${textOf(summary)}, ${unit}`}
      lines={[line]}
      xTitle="time"
      time
      {...{ zoom, onZoom }}
      syncKey="profile"
      caption={`${count(line.x.length)} ${line.x.length === 1 ? "report" : "reports"} of ${count(samples)} samples: mean, least and greatest`}
    />
  );
}

const size = { width: 240, height: 24 };

function Spark({ points }: { readonly points: Curve }): JSX.Element {
  const { line, band } = useMemo(() => sparkLayout(points, size), [points]);
  return (
    <svg className={styles["spark"]} viewBox={`0 -1 ${size.width} ${size.height + 2}`} aria-hidden>
      <path d={band} />
      <polyline points={line} />
    </svg>
  );
}
