import { Fragment, type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { compareVersions } from "./compare.ts";
import styles from "./page.module.css";
import type { Version } from "./version-columns.tsx";

type Props = { readonly versions: readonly Version[]; readonly onClose: () => void };

/** Versions in columns; values that differ are marked. */
export function Comparison({ versions, onClose }: Props): JSX.Element {
  const [onlyDifferent, setOnlyDifferent] = useState(true);
  const all = compareVersions(versions);
  const rows = onlyDifferent ? all.filter(({ differs }) => differs) : all;
  const groups = [...new Set(rows.map(({ group }) => group))];
  return (
    <section className={styles["compared"]} aria-label="Comparison of versions" tabIndex={0}>
      <div className={styles["bar"]}>
        <label>
          <input
            type="checkbox"
            checked={onlyDifferent}
            onChange={(event) => setOnlyDifferent(event.target.checked)}
          />{" "}
          Only differences ({all.filter(({ differs }) => differs).length} of {all.length})
        </label>
        <Button onClick={onClose}>Close the comparison</Button>
      </div>
      <table>
        <thead>
          <tr>
            <th scope="col">Value</th>
            {versions.map((version) => (
              <th key={version.number} scope="col">
                Version {version.number} {version.aliases.join(", ")}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <Fragment key={group}>
              <tr className={styles["group"]}>
                <th scope="rowgroup" colSpan={versions.length + 1}>
                  {group}
                </th>
              </tr>
              {rows
                .filter((row) => row.group === group)
                .map(({ name, values, differs }) => (
                  <tr key={name} data-differs={differs}>
                    <th scope="row">{name}</th>
                    {values.map((value, at) => (
                      <td key={versions[at]?.number}>{value}</td>
                    ))}
                  </tr>
                ))}
            </Fragment>
          ))}
        </tbody>
      </table>
    </section>
  );
}
