import type { JSX } from "react";
import { Difference } from "../../components/difference.tsx";
import { PlainTable } from "../../components/plain-table.tsx";
import type { ComparedExperiment, Comparison } from "./comparison.ts";
import styles from "./compare.module.css";
import { packagesThatDiffer } from "./packages.ts";
import type { TabProps } from "./page.tsx";

const nameOf = ({ id, name }: ComparedExperiment): string => `${id} ${name}`;

/** The packages and the code of the compared experiments, against those of a base. */
export function CodeTab({ comparison, search, change }: TabProps): JSX.Element {
  const { experiments } = comparison;
  const base = experiments.find(({ id }) => id === search.base) ?? experiments[0];
  const others = experiments.filter((one) => one !== base);
  const other = others.find(({ id }) => id === search.other) ?? others[0];
  if (base === undefined) return <p className={styles["note"]}>Nothing is compared.</p>;
  if (other === undefined) {
    return (
      <p className={styles["note"]}>
        All trials are of experiment {nameOf(base)}, and have the same code. Add a trial of another
        experiment to see differences.
      </p>
    );
  }
  return (
    <div className={styles["code"]}>
      <div className={styles["bar"]}>
        <label>
          Base{" "}
          <select
            value={base.id}
            onChange={({ target }) => change({ base: target.value, other: undefined })}
          >
            {experiments.map((one) => (
              <option key={one.id} value={one.id}>
                {nameOf(one)}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Packages {...{ comparison, base, others }} />
      <section aria-label="Code">
        <h2>Code and configuration</h2>
        <div className={styles["bar"]}>
          <label>
            Beside {nameOf(base)}{" "}
            <select value={other.id} onChange={({ target }) => change({ other: target.value })}>
              {others.map((one) => (
                <option key={one.id} value={one.id}>
                  {nameOf(one)}: {codeText(base, one)}
                </option>
              ))}
            </select>
          </label>
        </div>
        <Difference first={base.id} second={other.id} />
      </section>
    </div>
  );
}

const codeText = (base: ComparedExperiment, one: ComparedExperiment): string =>
  base.codeDigest === one.codeDigest ? "the same code" : "other code";

type PackagesProps = {
  readonly comparison: Comparison;
  readonly base: ComparedExperiment;
  readonly others: readonly ComparedExperiment[];
};

function Packages({ comparison, base, others }: PackagesProps): JSX.Element {
  const { environments } = comparison;
  const known = new Set(environments.map(({ experiment }) => experiment));
  const shown = others.filter(({ id }) => known.has(id));
  const unknown = [base, ...others].filter(({ id }) => !known.has(id)).map(nameOf);
  const rows = packagesThatDiffer(
    environments,
    base.id,
    shown.map(({ id }) => id),
  );
  return (
    <section aria-label="Packages">
      <h2>Packages</h2>
      {unknown.length > 0 && (
        <p className={styles["note"]}>
          No environment is recorded of {new Intl.ListFormat("en").format(unknown.slice(0, 5))}
          {unknown.length > 5 ? ` and ${unknown.length - 5} more` : ""}: a run records it soon after
          its start, and one that ends before has none.
        </p>
      )}
      {known.has(base.id) && shown.length > 0 && rows.length === 0 && (
        <p className={styles["note"]}>All packages have the same versions.</p>
      )}
      {known.has(base.id) && rows.length > 0 && (
        <PlainTable
          caption="Packages that differ"
          scroll={styles["scroll"]}
          rows={rows}
          keyOf={({ name }) => name}
          columns={[
            { title: "Package", cell: ({ name }) => <code>{name}</code> },
            ...[base, ...shown].map((one, at) => ({
              title: nameOf(one),
              cell: ({ versions }: (typeof rows)[number]) => (
                <span className={at > 0 && versions[at] !== versions[0] ? styles["differs"] : ""}>
                  {versions[at] || "–"}
                </span>
              ),
            })),
          ]}
        />
      )}
    </section>
  );
}
