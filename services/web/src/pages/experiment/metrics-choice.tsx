import { ChevronDown } from "lucide-react";
import { Popover } from "radix-ui";
import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Field } from "../../components/field.tsx";
import { type MetricName, metricsMax, textOf } from "./metric-names.ts";
import styles from "./overview.module.css";

type Props = {
  readonly names: readonly MetricName[];
  readonly chosen: readonly MetricName[];
  readonly onChoose: (chosen: readonly MetricName[]) => void;
  /** Chooses the usual metrics; absent while they are chosen. */
  readonly onReset: (() => void) | undefined;
};

/** Lists of fewer names need no search. */
const searchedFrom = 12;

/** The choice of the metrics that have a chart. The last one cannot be removed. */
export function MetricsChoice({ names, chosen, onChoose, onReset }: Props): JSX.Element {
  const [sought, setSought] = useState("");
  const isChosen = new Set(chosen.map(textOf));
  const found = names.filter((one) => textOf(one).toLowerCase().includes(sought.toLowerCase()));
  return (
    <Popover.Root onOpenChange={() => setSought("")}>
      <Popover.Trigger asChild>
        <Button>
          Metrics: {chosen.length} of {names.length} <ChevronDown size={12} aria-hidden />
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className={styles["metrics"]}
          align="start"
          sideOffset={4}
          aria-label="Metrics that have a chart"
        >
          {names.length >= searchedFrom && (
            <Field
              label="Search metrics"
              labelHidden
              placeholder="Search metrics"
              type="search"
              value={sought}
              onChange={({ target }) => setSought(target.value)}
            />
          )}
          <div role="group" aria-label="Metrics">
            {found.map((one) => {
              const text = textOf(one);
              const checked = isChosen.has(text);
              const others = chosen.filter((other) => textOf(other) !== text);
              return (
                <label key={text}>
                  <input
                    type="checkbox"
                    checked={checked}
                    disabled={checked ? others.length === 0 : chosen.length >= metricsMax}
                    onChange={() => onChoose(checked ? others : [...chosen, one])}
                  />
                  {one.name} <span className={styles["note"]}>{one.group}</span>
                </label>
              );
            })}
            {found.length === 0 && <p className={styles["note"]}>No metric contains this.</p>}
          </div>
          {onReset !== undefined && <Button onClick={onReset}>The usual metrics</Button>}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
