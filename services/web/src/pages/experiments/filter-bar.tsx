import { CircleQuestionMark } from "lucide-react";
import { type FormEvent, type JSX, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Menu } from "../../components/menu.tsx";
import { aroundFault, filterFault } from "../../components/problem.ts";
import { FilterHelp } from "./filter-help.tsx";
import styles from "./page.module.css";

type Props = {
  /** The filter of the URL. */
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
  /** The error of the list that was read with this filter. */
  readonly error: unknown;
};

const presets = [
  ["Active", "state = ACTIVE"],
  ["Failed", "state = ERROR"],
  ["Created in the last week", "created_at > -7d"],
  ["With failed trials", "trials_failed > 0"],
] as const;

/** The filter: Enter applies it, and the server's error is shown at its column. */
export function FilterBar({ filter, onFilter, error }: Props): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(filter);
  const [isHelp, setHelp] = useState(false);
  useEffect(() => setText(filter), [filter]);
  const fault = text === filter ? filterFault(error) : null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onFilter(text.trim());
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    setText(filter);
    input.current?.blur();
  };
  return (
    <form role="search" className={styles["filter"]} onSubmit={submit}>
      <div className={styles["filterRow"]}>
        <input
          ref={input}
          data-search
          className={styles["filterInput"]}
          aria-label="Filter"
          aria-invalid={fault !== null}
          aria-describedby={fault === null ? undefined : "filter-fault"}
          placeholder="Filter: resnet, state = ERROR, hparams.lr < 0.1 (press /)"
          spellCheck={false}
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <Menu
          align="end"
          trigger={<Button>Filters</Button>}
          groups={[
            presets.map(([title, preset]) => ({
              title,
              checked: filter === preset,
              onSelect: () => onFilter(filter === preset ? "" : preset),
            })),
            filter === "" ? [] : [{ title: "No filter", onSelect: () => onFilter("") }],
          ]}
        />
        <Button look="plain" aria-label="Help on filters" onClick={() => setHelp(true)}>
          <CircleQuestionMark size={16} aria-hidden />
        </Button>
      </div>
      {fault !== null && <Fault text={text} {...fault} />}
      {isHelp && <FilterHelp onClose={() => setHelp(false)} />}
    </form>
  );
}

function Fault(props: {
  readonly text: string;
  readonly column: number;
  readonly detail: string;
}): JSX.Element {
  const [before, at, after] = aroundFault(props.text, props.column);
  return (
    <p id="filter-fault" role="alert" className={styles["fault"]}>
      <code aria-hidden>
        {before}
        <mark>{at}</mark>
        {after}
      </code>
      Column {props.column}: {props.detail}
    </p>
  );
}
