import { type FormEvent, type JSX, useId, useState } from "react";
import { Button } from "../../components/button.tsx";
import { comparedMax } from "../../components/compare-link.ts";
import { shownError } from "../../components/problem.ts";
import { client } from "../../data/client.ts";
import { readAdded, type Which } from "./added.ts";
import styles from "./compare.module.css";

type Props = { readonly onAdd: (sources: readonly string[]) => void };

/** The field that adds trials: by id, or the experiments that a filter finds. */
export function AddBar({ onAdd }: Props): JSX.Element {
  const said = useId();
  const [text, setText] = useState("");
  const [which, setWhich] = useState<Which>("best");
  const [state, setState] = useState<{ isAsking: boolean; fault: string }>(idle);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (text.trim() === "" || state.isAsking) return;
    setState({ isAsking: true, fault: "" });
    const { sources, fault } = await found(text, which);
    setState({ isAsking: false, fault });
    if (fault !== "") return;
    setText("");
    onAdd(sources);
  };
  return (
    <form role="search" className={styles["add"]} onSubmit={(event) => void submit(event)}>
      <input
        data-search
        aria-label="Add experiments by filter or id"
        aria-invalid={state.fault !== ""}
        aria-describedby={said}
        placeholder="Add experiments by filter or id: label = baseline, or 12, 13.4, 14.best5"
        spellCheck={false}
        autoComplete="off"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setState(idle);
        }}
      />
      <select
        aria-label="Trials of each experiment"
        value={which}
        onChange={({ target }) => setWhich(target.value as Which)}
      >
        <option value="best">best trial of each</option>
        <option value="all">all trials</option>
      </select>
      <Button type="submit" disabled={state.isAsking}>
        Add
      </Button>
      <p id={said} role="alert" className={styles["fault"]} hidden={state.fault === ""}>
        {state.fault}
      </p>
    </form>
  );
}

const idle = { isAsking: false, fault: "" };

/** Returns the sources that the text names, or what is wrong with it. */
async function found(text: string, which: Which) {
  const added = readAdded(text, which);
  if (added.kind === "sources") return { sources: added.sources, fault: "" };
  const request = { filter: added.filter, pageSize: comparedMax + 1, fields: ["id"] };
  try {
    const { items } = await client.call("listExperiments", request);
    const sources = items.map(({ id }) => `${id}.${which}`);
    if (sources.length === 0) return { sources, fault: "No experiment matches this filter." };
    const fault =
      sources.length > comparedMax
        ? `More than ${comparedMax} experiments match: add a condition that leaves fewer.`
        : "";
    return { sources, fault };
  } catch (error) {
    const { what, todo } = shownError(error);
    return { sources: [], fault: `${what} ${todo}`.trim() };
  }
}
