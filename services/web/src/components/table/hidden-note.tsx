import type { JSX } from "react";
import { Button } from "../button.tsx";
import { counted } from "../format.ts";
import type { Column } from "./columns.ts";
import styles from "./table.module.css";

type Props = {
  readonly hidden: readonly Column<never>[];
  /** Shows all columns in a table that scrolls. */
  readonly onShow: () => void;
};

/** Names the columns for which the window is too narrow, as a button that shows them. */
export function HiddenNote({ hidden, onShow }: Props): JSX.Element | null {
  if (hidden.length === 0) return null;
  const text = `${counted(hidden.length, "column")} hidden`;
  const names = hidden.map(({ title }) => title).join(", ");
  return (
    <Button
      look="link"
      className={styles["hidden"]}
      title={`${names}: the window is too narrow. Show them in a table that scrolls.`}
      aria-label={`${text}: ${names}. Show them`}
      onClick={onShow}
    >
      {text}
    </Button>
  );
}
