import type { CSSProperties, JSX } from "react";
import { number } from "../../components/format.ts";
import type { ShownHyperparameter } from "./explain.ts";
import { numberOf, type PictureTrial } from "./layout.ts";
import styles from "./search-canvas.module.css";

type Props = {
  readonly trial: PictureTrial;
  readonly metric: string;
  /** The name of the search's time. */
  readonly time: string;
  readonly hyperparameters: readonly ShownHyperparameter[];
  readonly at: { readonly x: number; readonly y: number };
  readonly size: { readonly width: number; readonly height: number };
};

const shownMax = 12;
const gap = 14;

/** The trial under the pointer. The inspector says the same of a chosen trial. */
export function SearchHover({
  trial,
  metric,
  time,
  hyperparameters,
  at,
  size,
}: Props): JSX.Element {
  const { startFromTrial, startFromTime } = trial;
  const more = hyperparameters.length - shownMax;
  return (
    <div className={styles["hover"]} style={placeOf(at, size)} aria-hidden>
      <b>trial {numberOf(trial.trial)}</b> {trial.state.replaceAll("_", " ")}
      <div>
        {number(trial.time)} {time}
        {trial.best !== undefined && `, best ${metric} ${number(trial.best)}`}
      </div>
      {startFromTrial !== undefined && (
        <div>
          from trial {numberOf(startFromTrial)} at {number(startFromTime)}
        </div>
      )}
      <dl>
        {hyperparameters.slice(0, shownMax).map(({ name, value, before }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {before !== null && <span>{before} → </span>}
              {value}
            </dd>
          </div>
        ))}
      </dl>
      {more > 0 && <div>and {more} more</div>}
    </div>
  );
}

/** Beside the pointer, on the side that has more room. */
function placeOf(at: Props["at"], { width, height }: Props["size"]): CSSProperties {
  return {
    ...(at.x < width / 2 ? { left: at.x + gap } : { right: width - at.x + gap }),
    ...(at.y < height / 2 ? { top: at.y + gap } : { bottom: height - at.y + gap }),
  };
}
