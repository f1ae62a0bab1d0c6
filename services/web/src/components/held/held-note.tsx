import type { JSX } from "react";
import { type HeldBack, heldText } from "./held.ts";
import styles from "./held-note.module.css";

type Props = { readonly held: HeldBack; readonly onShow: () => void };

/** The changes of a list that are held back, as a button that shows them. It takes the same height without any. */
export function HeldNote({ held, onShow }: Props): JSX.Element {
  const text = heldText(held);
  return (
    <span className={styles["place"]} role="status">
      {text !== "" && (
        <button
          type="button"
          className={styles["note"]}
          onClick={(event) => {
            // The button disappears, and a removed element would keep the list in use.
            event.currentTarget.blur();
            onShow();
          }}
        >
          {text}
        </button>
      )}
    </span>
  );
}
