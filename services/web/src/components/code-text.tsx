import type { JSX } from "react";
import styles from "./code-text.module.css";

type CodeProps = {
  readonly label: string;
  readonly text: string;
  /** Numbers of faint lines, from 0. */
  readonly faint?: ReadonlySet<number>;
};

/** A text with line numbers, which can be selected without the numbers. */
export function CodeText(props: CodeProps): JSX.Element {
  const lines = props.text.replace(/\n$/, "").split("\n");
  return (
    <pre className={styles["text"]} aria-label={props.label} tabIndex={0}>
      <code className={styles["numbers"]} aria-hidden>
        {lines.map((_, at) => `${at + 1}\n`).join("")}
      </code>
      <code>{props.faint === undefined ? lines.join("\n") : withFaint(lines, props.faint)}</code>
    </pre>
  );
}

function withFaint(lines: readonly string[], faint: ReadonlySet<number>): readonly JSX.Element[] {
  return lines.map((line, at) => (
    // The lines of a text have no identity but their position.
    <span key={at} className={styles["line"]} data-kind={faint.has(at) ? "faint" : "same"}>
      {line}
      {"\n"}
    </span>
  ));
}

/** A difference in unified form: removed and added lines have a sign and a colour. */
export function DiffText(props: { readonly label: string; readonly text: string }): JSX.Element {
  const lines = props.text.replace(/\n$/, "").split("\n");
  return (
    <pre className={styles["text"]} aria-label={props.label} tabIndex={0}>
      <code>
        {lines.map((line, at) => (
          // The lines of a text have no identity but their position.
          <span key={at} className={styles["line"]} data-kind={kindOf(line)}>
            {line}
            {"\n"}
          </span>
        ))}
      </code>
    </pre>
  );
}

function kindOf(line: string): "added" | "removed" | "place" | "same" {
  if (line.startsWith("@@")) return "place";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "same";
}
