import {
  Ban,
  Circle,
  CircleCheck,
  CircleDashed,
  CirclePlay,
  CircleStop,
  CircleX,
  Hourglass,
  type LucideIcon,
  Pause,
  Scissors,
} from "lucide-react";
import type { JSX } from "react";
import type { StateStyle, ShownState } from "./state.ts";
import styles from "./state-badge.module.css";

const icons: Readonly<Record<StateStyle, LucideIcon>> = {
  queued: Circle,
  starting: CircleDashed,
  running: CirclePlay,
  suspended: Hourglass,
  paused: Pause,
  stopping: CircleStop,
  completed: CircleCheck,
  "stopped-early": Scissors,
  canceled: Ban,
  error: CircleX,
};

type Props = {
  /** A state of state.ts. */
  readonly state: ShownState;
  /** A trial's number of restarts, shown as ↻2 beside the word. */
  readonly restarts?: number;
  /** The reason for the state, as a tooltip. */
  readonly title?: string;
};

/** A state as icon, word and colour. */
export function StateBadge({ state, restarts = 0, title }: Props): JSX.Element {
  const Icon = icons[state.look];
  return (
    <span className={styles["badge"]} data-look={state.look} title={title}>
      <Icon size={14} aria-hidden />
      {state.word}
      {restarts > 0 && (
        <span className={styles["restarts"]}>
          <span aria-hidden>↻{restarts}</span>
          <span className="visually-hidden">, restarted {restarts} times</span>
        </span>
      )}
    </span>
  );
}
