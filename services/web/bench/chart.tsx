/**
 * A Trainyard chart and a bare uPlot that draws the same buckets, lines and bands, of the same size on one page, for
 * the benchmarks `chart_pan_vs_uplot` and `compare_pan_vs_uplot`. `ours.show(x)` and `bare.show(x)` draw a range of x
 * before they return. A chart of many trials has grey lines without bands, and so has the bare one.
 */
import { type JSX, useState } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import "../src/theme/tokens.css";
import "../src/theme/base.css";
import { Chart } from "../src/components/chart/chart.tsx";
import { chartTrialOf, lineOf, type Series } from "../src/components/chart/line.ts";
import { coloursMax } from "../src/components/chart/line-style.ts";
import type { Range } from "../src/components/chart/scale.ts";
import { readColours } from "../src/theme/colours.ts";

/** The query of the page: a chart of eight trials by default, or of the many of a comparison. */
const asked = new URLSearchParams(location.search);
const trials = Number(asked.get("trials") ?? 8);
const buckets = Number(asked.get("buckets") ?? 1_000);
const pointsOfBucket = Math.round(100_000 / buckets);
const isGrey = trials > coloursMax;
const width = 1_200;
const height = 240;

type Contender = { readonly show: (x: Range) => void };

declare global {
  interface Window {
    contenders: Readonly<Record<"ours" | "bare", Contender>>;
  }
}

/** A falling loss, with ripples that differ by trial: every bucket has a band. */
function seriesOf(trial: number): Series {
  const at = Array.from({ length: buckets }, (_, index) => index);
  const mean = at.map((index) => 1 / Math.sqrt(index + 1) + 0.05 * Math.sin(index * trial + trial));
  const ofEach = (value: number): number[] => at.map(() => value);
  return {
    trial: `1.${trial}`,
    group: "training",
    name: "loss",
    xMin: at.map((index) => index * pointsOfBucket),
    xMax: at.map((index) => (index + 1) * pointsOfBucket - 1),
    count: ofEach(pointsOfBucket),
    min: mean.map((value) => value - 0.02),
    max: mean.map((value) => value + 0.02),
    mean,
    deviation: ofEach(0.01),
    first: mean,
    last: mean,
    nans: ofEach(0),
    infinities: ofEach(0),
  };
}

const lines = Array.from({ length: trials }, (_, index) => {
  const series = seriesOf(index + 1);
  return lineOf(series, chartTrialOf(series.trial));
});

function ours(host: HTMLElement): Contender {
  let show: (x: Range) => void = () => {};
  function Page(): JSX.Element {
    const [zoom, setZoom] = useState<Range | null>(null);
    show = setZoom;
    return (
      <Chart
        title="loss"
        lines={lines}
        xTitle="step"
        whole
        zoom={zoom}
        onZoom={setZoom}
        syncKey="bench"
      />
    );
  }
  flushSync(() => createRoot(host).render(<Page />));
  return { show: (x) => flushSync(() => show(x)) };
}

function bare(host: HTMLElement): Contender {
  const { hues, grey } = readColours();
  const x = lines[0]?.x ?? [];
  const points = { show: false };
  const series = lines.flatMap((_, index) => {
    const line = { stroke: isGrey ? grey : (hues[index] ?? ""), width: 1, points };
    return isGrey ? [line] : [line, { points }, { points }];
  });
  const plot = new uPlot(
    {
      width,
      height,
      ms: 1,
      legend: { show: false },
      cursor: { show: false },
      series: [{}, ...series],
      bands: isGrey
        ? []
        : lines.map((_, index) => ({
            series: [3 * index + 3, 3 * index + 2],
            fill: `${hues[index] ?? ""}2e`,
          })),
      scales: { x: { time: false } },
    },
    [
      x,
      ...lines.flatMap(({ y, low, high }) => (isGrey ? [y] : [y, low, high])),
    ] as uPlot.AlignedData,
    host,
  );
  return { show: ([min, max]) => plot.batch(() => plot.setScale("x", { min, max })) };
}

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element #${id}`);
  found.style.width = `${width}px`;
  return found;
}

globalThis.window.contenders = { ours: ours(element("ours")), bare: bare(element("bare")) };
