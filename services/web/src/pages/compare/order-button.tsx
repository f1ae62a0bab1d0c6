import { ArrowDown, ArrowUp } from "lucide-react";
import type { JSX } from "react";
import styles from "./compare.module.css";
import type { Order, ValueRow } from "./rows.ts";

type Props = {
  readonly row: ValueRow;
  readonly order: Order | null;
  readonly onOrder: (key: string) => void;
};

/** The name of a value; a click orders the trials by it. */
export function OrderButton({ row, order, onOrder }: Props): JSX.Element {
  const isOrder = order?.key === row.key;
  const Icon = order?.desc === true ? ArrowDown : ArrowUp;
  const now = isOrder ? (order.desc ? ", now descending" : ", now ascending") : "";
  return (
    <button
      type="button"
      className={styles["name"]}
      title={`Order the trials by ${row.title}${now}`}
      onClick={() => onOrder(row.key)}
    >
      {row.title}
      {isOrder && <Icon size={12} aria-hidden />}
    </button>
  );
}
