import { type JSX, type ReactNode, useMemo } from "react";
import { type Glyph, legendOf } from "./marks.ts";
import { layoutOf, type Picture } from "./layout.ts";
import styles from "./search-canvas.module.css";

/** The legend of a layout is the same at each width. */
const anyWidth = 600;

/** The meaning of the lines and marks in a picture. */
export function SearchLegend({ picture }: { readonly picture: Picture }): JSX.Element {
  const marks = useMemo(() => legendOf(layoutOf(picture, anyWidth)), [picture]);
  return (
    <ul className={styles["legend"]} aria-label="Legend">
      {marks.map(({ glyph, colour, text }) => (
        <li key={`${glyph} ${colour}`}>
          <svg width={18} height={12} style={{ color: `var(--${colour})` }} aria-hidden>
            <g fill="none" stroke="currentColor" strokeWidth={1.75}>
              {glyphs[glyph]}
            </g>
          </svg>
          {text}
        </li>
      ))}
    </ul>
  );
}

const glyphs: Readonly<Record<Glyph, ReactNode>> = {
  line: <path d="M0 6H18" />,
  dashes: <path d="M0 6H18" strokeDasharray="2 3" />,
  cutoff: <path d="M0 6H18" strokeWidth={2.5} />,
  bar: <path d="M9 2V10" />,
  cross: <path d="M5 2L13 10M5 10L13 2" />,
  dot: <circle cx={9} cy={6} r={4} fill="currentColor" />,
  ring: <circle cx={9} cy={6} r={4} />,
};
