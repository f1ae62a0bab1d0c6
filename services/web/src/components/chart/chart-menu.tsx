import { Ellipsis } from "lucide-react";
import type { JSX, RefObject } from "react";
import type { Colours } from "../../theme/colours.ts";
import { number } from "../format.ts";
import { saveAs } from "../save-as.ts";
import { Menu } from "../menu.tsx";
import { chartCsv } from "./chart-csv.ts";
import { type PictureEntry, pngOf } from "./chart-png.ts";
import type { Line } from "./line.ts";
import { type LineStyle, strokeOf } from "./line-style.ts";
import type { Range } from "./scale.ts";

export type ShownChart = {
  readonly xTitle: string;
  /** The drawn lines and the drawn range of x. */
  readonly lines: readonly Line[];
  readonly x: Range;
  readonly looks: ReadonlyMap<string, LineStyle>;
  readonly colours: Colours;
};

type Props = {
  readonly title: string;
  /** Returns what is drawn at the time of the call. */
  readonly shown: () => ShownChart;
  /** The element that contains the plot's canvas. */
  readonly host: RefObject<HTMLElement | null>;
};

/** Saves the chart as a picture, or what it draws as CSV. */
export function ChartMenu({ title, shown, host }: Props): JSX.Element {
  const name = title.replaceAll(/[^\w.-]+/g, "-");
  const savePng = async (): Promise<void> => {
    const plot = host.current?.querySelector("canvas");
    if (plot === null || plot === undefined) return;
    const { lines, looks, colours } = shown();
    const legend = legendOf(lines, looks, colours);
    saveAs(`${name}.png`, await pngOf({ title, plot, legend, colours }));
  };
  const saveCsv = (): void => {
    const { lines, xTitle, x } = shown();
    saveAs(`${name}.csv`, new Blob([chartCsv(lines, xTitle, x)], { type: "text/csv" }));
  };
  return (
    <Menu
      trigger={
        <button type="button" aria-label={`Save ${title}`} title="Save">
          <Ellipsis size={14} aria-hidden />
        </button>
      }
      groups={[
        [
          { title: "Save as PNG", onSelect: () => void savePng() },
          { title: "CSV of its data", onSelect: saveCsv },
        ],
      ]}
      align="end"
    />
  );
}

/** The lines that have a hue, with their last values. */
function legendOf(
  lines: readonly Line[],
  looks: ReadonlyMap<string, LineStyle>,
  colours: Colours,
): readonly PictureEntry[] {
  return lines.flatMap(({ of, label, state, y }) => {
    const look = looks.get(of);
    if (look === undefined || look.hue === null) return [];
    const last = y.findLast(Number.isFinite);
    const text = [label, state?.word, number(last)].filter(Boolean).join(" ");
    return [{ text, ...strokeOf(look, colours) }];
  });
}
