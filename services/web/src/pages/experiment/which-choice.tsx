import type { JSX } from "react";
import { count } from "../../components/format.ts";
import { type ListTotal, totalText } from "../../components/list-total.ts";
import styles from "./overview.module.css";
import { whichText, type WhichTrials, whichTrials } from "./which-trials.ts";

type Props = {
  /** The number of shown trials. */
  readonly shown: number;
  readonly total: ListTotal;
  readonly metric: string;
  /** The choice of trials; null for another order, which `orderText` names. */
  readonly which: WhichTrials | null;
  readonly orderText?: string;
  readonly onWhich: (which: WhichTrials) => void;
};

/** Explains that only some trials are shown, and offers other choices. Empty if all are shown. */
export function WhichChoice(props: Props): JSX.Element | null {
  const { shown, total, metric, which, orderText = "", onWhich } = props;
  if (shown >= total.total) return null;
  return (
    <label className={styles["choices"]}>
      <span>
        {count(shown)} of {totalText(total)} trials:
      </span>
      <select
        aria-label="Which trials are shown"
        value={which ?? ""}
        onChange={({ target }) => {
          const chosen = whichTrials.find((one) => one === target.value);
          if (chosen !== undefined) onWhich(chosen);
        }}
      >
        {which === null && <option value="">{orderText}</option>}
        {whichTrials.map((one) => (
          <option key={one} value={one}>
            {whichText(one, metric)}
          </option>
        ))}
      </select>
    </label>
  );
}
