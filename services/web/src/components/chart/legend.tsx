import { type CSSProperties, type JSX, memo, type RefObject } from "react";
import { useColours } from "../../theme/colours.ts";
import { number } from "../format.ts";
import { StateBadge } from "../state-badge.tsx";
import type { ShownState } from "../state.ts";
import styles from "./chart.module.css";
import { lineStylesOf, strokeOf } from "./line-style.ts";
import { type Focus, isolatedAfter, nobody } from "./use-focus.ts";

/** A trial, or a group of trials, in a legend. */
export type LegendEntry = {
  readonly id: string;
  readonly label: string;
  readonly look: number;
  readonly state?: ShownState | undefined;
  /** The last value; absent in a legend of several charts. */
  readonly value?: number | undefined;
};

type Props = Focus & {
  readonly entries: readonly LegendEntry[];
  /** Trials that keep their hue among many. */
  readonly emphasised?: ReadonlySet<string>;
  readonly label?: string;
  readonly list?: RefObject<HTMLUListElement | null>;
};

/**
 * The trials of one or of several charts with their state and value. Hovering or focusing an entry highlights its
 * lines. A click isolates them, with Shift, Ctrl or ⌘ several; a second click shows all again.
 */
export const Legend = memo(function LegendOfCharts(props: Props): JSX.Element {
  const { entries, emphasised = nobody, label = "Legend" } = props;
  const { highlighted, onHighlight, isolated, onIsolate } = props;
  const colours = useColours();
  // Isolated lines are few, so the plot draws them in their hues.
  const coloured = new Set([...emphasised, ...isolated]);
  if (highlighted !== null) coloured.add(highlighted);
  const looks = lineStylesOf(
    entries.map(({ id, look }) => ({ of: id, look })),
    coloured,
  );
  return (
    <ul
      ref={props.list}
      className={styles["legend"]}
      aria-label={label}
      onPointerLeave={() => onHighlight(null)}
    >
      {entries.map(({ id, label: name, state, value }) => (
        <li key={id}>
          <button
            type="button"
            aria-pressed={isolated.has(id)}
            data-left-out={isolated.size > 0 && !isolated.has(id)}
            data-highlighted={id === highlighted}
            title="Click: this one alone, and again: all. With Shift: several."
            onPointerEnter={() => onHighlight(id)}
            onFocus={() => onHighlight(id)}
            onBlur={() => onHighlight(null)}
            onClick={({ shiftKey, ctrlKey, metaKey }) =>
              onIsolate(isolatedAfter(isolated, id, shiftKey || ctrlKey || metaKey))
            }
          >
            <Swatch {...strokeOf(looks.get(id), colours)} />
            <span className={styles["name"]}>{name}</span>
            {state !== undefined && <StateBadge state={state} />}
            {value !== undefined && <b>{number(value)}</b>}
          </button>
        </li>
      ))}
    </ul>
  );
});

type SwatchProps = { readonly colour: string; readonly dash: readonly number[] };

/** A piece of a line, with its dashes. */
export function Swatch({ colour, dash }: SwatchProps): JSX.Element {
  return (
    <svg
      className={styles["swatch"]}
      viewBox="0 0 16 8"
      style={{ color: colour } as CSSProperties}
      aria-hidden
    >
      <line x1="0" x2="16" y1="4" y2="4" strokeDasharray={dash.join(" ")} />
    </svg>
  );
}
