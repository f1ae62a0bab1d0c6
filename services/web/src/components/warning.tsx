import { TriangleAlert } from "lucide-react";
import type { JSX } from "react";
import styles from "./warning.module.css";

/** A warning about something that has ended well; nothing for an empty text. */
export function Warning({ text }: { readonly text: string }): JSX.Element | null {
  if (text === "") return null;
  return (
    <p className={styles["warning"]} role="note">
      <TriangleAlert size={14} aria-hidden />
      <span>{text[0]?.toUpperCase() + text.slice(1)}.</span>
    </p>
  );
}

/** The sign of a warning in a row; the text is its tooltip. */
export function WarningSign({ text }: { readonly text: string }): JSX.Element | null {
  if (text === "") return null;
  return (
    <span className={styles["sign"]} title={text} role="img" aria-label={`Warning: ${text}`}>
      <TriangleAlert size={14} aria-hidden />
    </span>
  );
}
