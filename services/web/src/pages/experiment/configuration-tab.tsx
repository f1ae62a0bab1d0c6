import { getRouteApi } from "@tanstack/react-router";
import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { CodeText } from "../../components/code-text.tsx";
import { Command, CopyButton } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import { FactList } from "../../components/inspector.tsx";
import { LoadingText } from "../../components/skeleton.tsx";
import { useCall } from "../../data/calls.ts";
import { Difference } from "../../components/difference.tsx";
import type { TabProps } from "./tabs.ts";
import styles from "./texts.module.css";
import { linesOfKeys } from "./yaml-lines.ts";

const route = getRouteApi("/experiments/$experiment");

/**
 * The tab with an experiment's configuration and the defaults that it uses, the origin of its code, and the difference
 * from another experiment.
 */
export function ConfigurationTab({ experiment: { id, parent } }: TabProps): JSX.Element {
  const { other } = route.useSearch();
  const navigate = route.useNavigate();
  const compare = (text: string) =>
    void navigate({
      search: ({ other: _was, ...old }) => (text === "" ? old : { ...old, other: text }),
    });
  return (
    <div className={styles["column"]}>
      <CompareBar key={other ?? ""} other={other ?? ""} parent={parent} onCompare={compare} />
      {other === undefined ? <Submitted id={id} /> : <Difference first={id} second={other} />}
    </div>
  );
}

type BarProps = {
  readonly other: string;
  readonly parent: string;
  readonly onCompare: (other: string) => void;
};

function CompareBar({ other, parent, onCompare }: BarProps): JSX.Element {
  const [text, setText] = useState(other);
  return (
    <form
      className={styles["bar"]}
      onSubmit={(event) => {
        event.preventDefault();
        onCompare(text.trim());
      }}
    >
      <Field
        label="Compare with experiment"
        labelHidden
        placeholder="Compare with experiment, for example 12"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit">Compare</Button>
      {/^\d+$/.test(parent) && other !== parent && (
        <Button onClick={() => onCompare(parent)}>Compare with its parent {parent}</Button>
      )}
      {other !== "" && <Button onClick={() => onCompare("")}>Close the comparison</Button>}
    </form>
  );
}

function Submitted({ id }: { readonly id: string }): JSX.Element {
  const submission = useCall("getSubmission", { experiment: id });
  if (submission.error !== null) return <ErrorNote error={submission.error} />;
  if (submission.data === undefined) return <LoadingText label="the configuration" />;
  const { config, masked, seed, codeDigest, record } = submission.data;
  const repository = record?.repository;
  const defaulted = record?.defaulted ?? [];
  return (
    <>
      <FactList
        facts={[
          ["Seed", seed],
          ["Code", codeDigest === "" ? "none" : <code>{codeDigest.slice(0, 12)}</code>],
          [
            "Commit",
            repository === undefined
              ? ""
              : `${repository.commit.slice(0, 12)} ${repository.branch}${repository.changed ? ", changed" : ""}`,
          ],
          ["Masked", masked.join(", ")],
        ]}
      />
      <div className={styles["download"]}>
        <span className={styles["muted"]}>Download the configuration and the code</span>
        <Command text={`yard experiment download ${id} FOLDER`} />
      </div>
      {defaulted.length > 0 && (
        <details className={styles["details"]}>
          <summary>
            {defaulted.length} values are defaults of the platform{" "}
            <span className={styles["muted"]}>(grey lines)</span>
          </summary>
          <ul>
            {defaulted.map((path) => (
              <li key={path}>
                <code>{path}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
      <section className={styles["config"]} aria-label="Configuration">
        <header>
          <h2>Configuration</h2>
          <CopyButton text={config} label="Copy the configuration" />
        </header>
        <CodeText
          label={`Configuration of experiment ${id}`}
          text={config}
          faint={linesOfKeys(config, defaulted)}
        />
      </section>
      <FactList
        facts={[
          ["Submitted by", record?.client],
          ["Platform", record?.platformVersion],
        ]}
      />
      {repository !== undefined && repository.diff !== "" && (
        <details className={styles["details"]}>
          <summary>The code differs from its commit</summary>
          <CodeText label="Difference from the commit" text={repository.diff} />
        </details>
      )}
    </>
  );
}
