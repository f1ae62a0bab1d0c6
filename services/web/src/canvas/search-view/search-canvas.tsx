import { type JSX, type KeyboardEvent, type PointerEvent, useMemo, useState } from "react";
import { useColours } from "../../theme/colours.ts";
import { useCanvas } from "../use-canvas.ts";
import { drawSearch } from "./draw.ts";
import type { ShownHyperparameter } from "./explain.ts";
import { layoutOf, numberOf, type Picture, type PictureTrial, threadAt } from "./layout.ts";
import { SearchHover } from "./search-hover.tsx";
import styles from "./search-canvas.module.css";

type Props = {
  readonly picture: Picture;
  /** The number of the trial with the best value. */
  readonly best: number | null;
  readonly chosen: number | null;
  readonly onChoose: (trial: number | null) => void;
  /** Called with -1 for the previous decision, 1 for the next. */
  readonly onStep: (by: -1 | 1) => void;
  readonly hyperparametersOf: (trial: PictureTrial) => readonly ShownHyperparameter[];
};

type Hovered = { readonly trial: number; readonly x: number; readonly y: number };

/** The threads of a search. The left and right arrow keys replay it; up and down choose a trial. */
export function SearchCanvas(props: Props): JSX.Element {
  const { picture, best, chosen, onChoose, onStep } = props;
  const colours = useColours();
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const [width, setWidth] = useState(0);
  const layout = useMemo(() => layoutOf(picture, Math.max(320, width)), [picture, width]);
  const size = { width: layout.width, height: layout.height };
  const time = timeNameOf(picture);
  const { host, canvas } = useCanvas(size, setWidth, (ctx) =>
    drawSearch(ctx, layout, { best, chosen, hovered: hovered?.trial ?? null }, time, colours),
  );
  const at = (event: PointerEvent<HTMLElement>): Hovered | null => {
    const box = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const thread = threadAt(layout, x, y);
    return thread === null ? null : { trial: thread.trial, x, y };
  };
  const under = picture.trials.find(({ trial }) => numberOf(trial) === hovered?.trial);
  const onKey = (event: KeyboardEvent): void => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.key === "ArrowLeft") onStep(-1);
    else if (event.key === "ArrowRight") onStep(1);
    else if (event.key === "Escape" && chosen !== null) onChoose(null);
    else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      onChoose(neighbour(layout.threads, chosen, event.key === "ArrowUp" ? -1 : 1));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={host} className={styles["host"]}>
      <canvas
        ref={canvas}
        className={hovered === null ? undefined : styles["pointing"]}
        role="img"
        aria-label={summaryOf(picture)}
        tabIndex={0}
        onKeyDown={onKey}
        onPointerMove={(event) => setHovered(at(event))}
        onPointerLeave={() => setHovered(null)}
        onPointerDown={(event) => onChoose(at(event)?.trial ?? null)}
      />
      {hovered !== null && under !== undefined && (
        <SearchHover
          trial={under}
          metric={picture.metric}
          time={time}
          hyperparameters={props.hyperparametersOf(under)}
          at={hovered}
          size={size}
        />
      )}
    </div>
  );
}

/** The name of a search's time. */
export const timeNameOf = ({ timeMetric }: Picture): string =>
  timeMetric === "" ? "steps" : timeMetric;

type Ended = {
  readonly trial: number;
  readonly points: readonly { readonly x: number; readonly y: number }[];
};

/** The previous or next thread in the order of the canvas: by the place of its end, from the top right. */
function neighbour(threads: readonly Ended[], chosen: number | null, by: -1 | 1): number | null {
  const order = threads.toSorted((a, b) => {
    const [p, q] = [a.points.at(-1), b.points.at(-1)];
    return (q?.x ?? 0) - (p?.x ?? 0) || (p?.y ?? 0) - (q?.y ?? 0);
  });
  const index = order.findIndex(({ trial }) => trial === chosen);
  const next = index === -1 ? 0 : Math.min(order.length - 1, Math.max(0, index + by));
  return order[next]?.trial ?? null;
}

function summaryOf({ algorithm, brackets, trials, version }: Picture): string {
  const rungs = brackets.reduce((sum, bracket) => sum + bracket.rungs.length, 0);
  const columns = rungs === 0 ? "over time" : `through ${rungs} rungs`;
  return `${trials.length} trials of ${algorithm} ${columns} at version ${version}. Arrow keys replay the search and choose a trial; the button Table shows the same.`;
}
