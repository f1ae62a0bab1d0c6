import type { JSX } from "react";
import { Button } from "../button.tsx";
import { counted } from "../format.ts";
import type { Column, ColumnLayout } from "./columns.ts";
import styles from "./table.module.css";

type Props = {
  readonly hidden: readonly Column<never>[];
  /** All columns of the table. */
  readonly layout: ColumnLayout;
  /** Shows all columns in a table that scrolls; absent: the layout cannot be changed. */
  readonly onLayout?: ((layout: ColumnLayout) => void) | undefined;
};

/** Names the columns for which the window is too narrow, as a button that shows them if the layout can be changed. */
export function HiddenNote({ hidden, layout, onLayout }: Props): JSX.Element | null {
  if (hidden.length === 0) return null;
  const text = `${counted(hidden.length, "column")} hidden`;
  const names = hidden.map(({ title }) => title).join(", ");
  if (onLayout === undefined) {
    return (
      <span className={styles["hidden"]}>
        {text}: {names}
      </span>
    );
  }
  return (
    <Button
      look="link"
      className={styles["hidden"]}
      title={`${names}: the window is too narrow. Show them in a table that scrolls.`}
      aria-label={`${text}: ${names}. Show them`}
      onClick={() => onLayout(layout)}
    >
      {text}
    </Button>
  );
}
