import { ChevronLeft, ChevronRight } from "lucide-react";
import type { JSX } from "react";
import { stepText, type SearchStep } from "../../canvas/search-view/explain.ts";
import { Button } from "../../components/button.tsx";
import { time } from "../../components/format.ts";
import styles from "./search.module.css";

type Props = {
  readonly steps: readonly SearchStep[];
  /** The index of the shown step; -1 before the first. */
  readonly at: number;
  readonly onShow: (index: number) => void;
};

/** Replays a search decision by decision. */
export function Scrubber({ steps, at, onShow }: Props): JSX.Element {
  const step = steps[at];
  const said = step === undefined ? "before the first decision" : stepText(step);
  const last = steps.length - 1;
  return (
    <div className={styles["scrubber"]}>
      <Button
        look="plain"
        aria-label="Decision before"
        disabled={at < 0}
        onClick={() => onShow(at - 1)}
      >
        <ChevronLeft size={16} aria-hidden />
      </Button>
      <input
        type="range"
        min={-1}
        max={last}
        value={at}
        aria-label="Decision"
        aria-valuetext={`decision ${at + 1} of ${steps.length}: ${said}`}
        onChange={({ target }) => onShow(Number(target.value))}
      />
      <Button
        look="plain"
        aria-label="Next decision"
        disabled={at >= last}
        onClick={() => onShow(at + 1)}
      >
        <ChevronRight size={16} aria-hidden />
      </Button>
      <output className={styles["step"]} aria-label="Shown decision" title={said}>
        <b>
          Decision {at + 1} of {steps.length}
        </b>
        , {said}
        {step?.decision.at !== undefined && (
          <span className={styles["note"]}> {time(step.decision.at.atMs)}</span>
        )}
      </output>
    </div>
  );
}
