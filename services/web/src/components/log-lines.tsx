import type { JSX, ReactNode } from "react";
import styles from "./log-lines.module.css";
import { parseAnsi } from "./log-view/ansi.ts";
import { shownText } from "./log-view/line-text.ts";
import { clockTime } from "./log-view/line-time.ts";
import type { LogLine } from "./log-view/source.ts";
import { PathLink } from "./path-link.tsx";

type Props = {
  readonly lines: readonly LogLine[];
  /** Returns the address of a line in its log. */
  readonly hrefOf: (cursor: string) => string;
};

/** A few lines of a log: each is a link to its place there. */
export function LogLines({ lines, hrefOf }: Props): JSX.Element {
  return (
    <LinkedLines>
      {lines.map((line) => (
        <li key={line.cursor} data-level={line.level}>
          <PathLink to={hrefOf(line.cursor)}>
            <time>{clockTime(line.atMs)}</time>
            <span>
              {parseAnsi(shownText(line, false).text)
                .map(({ text }) => text)
                .join("")}
            </span>
          </PathLink>
        </li>
      ))}
    </LinkedLines>
  );
}

/** A list of links, each with a time and a text. */
export function LinkedLines({ children }: { readonly children: ReactNode }): JSX.Element {
  return <ol className={styles["lines"]}>{children}</ol>;
}
