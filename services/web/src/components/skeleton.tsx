/** Grey bars in the place and height of what is being loaded, so that nothing jumps when it arrives. */
import type { CSSProperties, JSX, ReactNode } from "react";
import styles from "./skeleton.module.css";

type LoadingProps = {
  /** Names what is being loaded, for screen readers. */
  readonly label: string;
  readonly className?: string | undefined;
  readonly children: ReactNode;
};

/** The frame of the bars of one object. */
export function Loading({ label, className, children }: LoadingProps): JSX.Element {
  return (
    <div className={className} role="status" aria-label={`Loading ${label}`} aria-busy>
      {children}
    </div>
  );
}

/** A bar in a line of this height, in pixels. */
export function SkeletonLine(props: {
  readonly height: number;
  readonly width?: CSSProperties["width"];
}): JSX.Element {
  const { height, width = "100%" } = props;
  return (
    <span className={styles["block"]} style={{ height }} aria-hidden>
      <span className={styles["bar"]} style={{ width }} />
    </span>
  );
}

const lineWidths = ["62%", "48%", "71%", "35%", "55%", "44%", "66%", "29%"] as const;

/** The lines of a text, or of the content of a tab. */
export function LoadingText({ label }: { readonly label: string }): JSX.Element {
  return (
    <Loading label={label} className={styles["text"]}>
      {lineWidths.map((width) => (
        <SkeletonLine key={width} height={20} width={width} />
      ))}
    </Loading>
  );
}

/** A bar that fills a drawing's height. */
export function SkeletonBlock({ height }: { readonly height: number }): JSX.Element {
  return <span className={styles["bar"]} style={{ height }} aria-hidden />;
}

/** Widths of the columns, in percent. */
const widths = [4, 22, 9, 12, 8] as const;
/** Widths of the bars in the column of names, in percent of the column. */
const nameWidths = [100, 72, 86, 55] as const;

/** Rows of a table. */
export function SkeletonRows(props: {
  readonly rows: number;
  readonly height: number;
}): JSX.Element {
  return (
    <span className={styles["rows"]} aria-hidden>
      {Array.from({ length: props.rows }, (_, row) => (
        <span key={row} className={styles["row"]} style={{ height: props.height }}>
          {widths.map((width, at) => (
            <span key={at} style={{ width: `${width}%` }}>
              <span
                className={styles["bar"]}
                style={{ width: at === 1 ? `${nameWidths[row % nameWidths.length]}%` : "100%" }}
              />
            </span>
          ))}
        </span>
      ))}
    </span>
  );
}
