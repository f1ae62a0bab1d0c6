import type { JSX } from "react";
import { PathLink } from "./path-link.tsx";
import styles from "./reason.module.css";
import { partsOf } from "./trial-links.ts";

type Props = { readonly text: string; readonly experiment: string };

/** The reason for an experiment's state, with links to the trials it names. */
export function Reason({ text, experiment }: Props): JSX.Element {
  return (
    <span className={styles["reason"]}>
      {partsOf(text, experiment).map(({ text: part, trial }, at) =>
        trial === undefined ? (
          part
        ) : (
          <PathLink key={at} to={`/trials/${trial}`}>
            {part}
          </PathLink>
        ),
      )}
    </span>
  );
}
