import { type CSSProperties, type JSX, memo, type MouseEvent, type Ref, useState } from "react";
import { trialName } from "../trial-name.ts";
import { parseAnsi, type Style } from "./ansi.ts";
import { cssColour, extremeOn, onPage, readable } from "./colours.ts";
import { shownText } from "./line-text.ts";
import { clockTime, fullTime } from "./line-time.ts";
import styles from "./log-view.module.css";
import { type Marker, type Piece, piecesOf } from "./marks.ts";
import type { LogLine } from "./source.ts";

export type RowOptions = {
  readonly showsTrial: boolean;
  readonly time: "own" | "received";
  readonly wrap: boolean;
  readonly mark: Marker;
  readonly hrefOf: (cursor: string) => string;
  readonly onPress: (cursor: string, extend: boolean) => void;
};

type Props = {
  readonly line: LogLine;
  /** The number of earlier states of a progress bar that are hidden. */
  readonly redraws: number;
  readonly index: number;
  readonly chosen: boolean;
  readonly look: RowOptions;
  readonly measure: Ref<HTMLDivElement> | undefined;
};

/** One line: its time, which links to the line, then its origin, then its text. */
export const LineRow = memo(function LineRow(props: Props): JSX.Element {
  const { line, redraws, index, chosen, look, measure } = props;
  const { atMs, receivedAtMs, cursor, level, source, rank, trial } = line;
  const ms = look.time === "own" ? atMs : receivedAtMs;
  const press = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.button !== 0) return;
    event.preventDefault();
    look.onPress(cursor, event.shiftKey);
  };
  return (
    <div
      ref={measure}
      data-index={index}
      data-level={level}
      data-source={source}
      data-chosen={chosen}
      className={styles["row"]}
    >
      <a
        href={look.hrefOf(cursor)}
        onClick={press}
        className={styles["time"]}
        title={fullTime(ms)}
        aria-current={chosen ? "true" : undefined}
      >
        {clockTime(ms)}
      </a>
      {look.showsTrial && <span className={styles["trial"]}>{trialName(trial)}</span>}
      <span className={styles["rank"]}>{rank === undefined ? "" : `r${rank}`}</span>
      <span className={styles["level"]}>{source === "agent" ? "agent" : level}</span>
      <LineText {...{ line, redraws, look }} />
    </div>
  );
});

function LineText({ line, redraws, look }: Pick<Props, "line" | "redraws" | "look">): JSX.Element {
  const [whole, setWhole] = useState(false);
  const { text, cut } = shownText(line, whole);
  const spans = parseAnsi(text);
  const plain = spans.map((span) => span.text).join("");
  return (
    <span className={styles["text"]} data-wrap={look.wrap}>
      {piecesOf(spans, look.mark(plain)).map((piece, at) => (
        // Pieces of a line have no identity but their position.
        <PieceOfText key={at} {...piece} />
      ))}
      {cut > 0 && (
        <button type="button" className={styles["more"]} onClick={() => setWhole(true)}>
          {cut.toLocaleString("en-US")} more characters
        </button>
      )}
      {redraws > 0 && (
        <span
          className={styles["redraws"]}
          title="States of a progress bar that are not shown; Filters shows them"
        >
          {redraws} redraws
        </span>
      )}
    </span>
  );
}

function PieceOfText({ text, style, isMarked }: Piece): JSX.Element | string {
  const css = cssOf(style);
  if (isMarked) return <mark>{text}</mark>;
  if (css === null) return text;
  return <span style={css}>{text}</span>;
}

/** Returns null for text without a style. */
function cssOf(style: Style): CSSProperties | null {
  const { bold, dim, italic, underline, strike, inverse } = style;
  const decoration = [underline ? "underline" : "", strike ? "line-through" : ""].join(" ").trim();
  const css: CSSProperties = {
    ...coloursOf(style, inverse),
    ...(bold ? { fontWeight: 600 } : {}),
    ...(italic ? { fontStyle: "italic" } : {}),
    ...(decoration === "" ? {} : { textDecoration: decoration }),
    ...(dim && style.foreground === null ? { color: "var(--muted)" } : {}),
  };
  return Object.keys(css).length === 0 ? null : css;
}

function coloursOf({ foreground, background }: Style, inverse: boolean): CSSProperties {
  const [text, behind] = inverse ? [background, foreground] : [foreground, background];
  if (behind !== null) {
    const shown = text === null ? extremeOn(behind) : readable(text, behind);
    return { color: cssColour(shown), backgroundColor: cssColour(behind) };
  }
  if (inverse) {
    return {
      color: text === null ? "var(--background)" : cssColour(text),
      backgroundColor: "var(--text)",
    };
  }
  return text === null ? {} : { color: onPage(text) };
}
