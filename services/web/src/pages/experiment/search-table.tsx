import type { JSX } from "react";
import { numberOf, type Picture } from "../../canvas/search-view/layout.ts";
import { number } from "../../components/format.ts";
import styles from "./search.module.css";

type Props = { readonly picture: Picture; readonly onChoose: (trial: number) => void };

/** The same as the picture, to be read: a trial a row, a rung a column with rank and value. */
export function SearchTable({ picture, onChoose }: Props): JSX.Element {
  const rungs = Math.max(0, ...picture.brackets.map((bracket) => bracket.rungs.length));
  const several = picture.brackets.length > 1;
  return (
    <div className={styles["scroll"]} role="region" aria-label="Trials of the search" tabIndex={0}>
      <table className={styles["table"]}>
        <thead>
          <tr>
            <th scope="col">trial</th>
            <th scope="col">state</th>
            <th scope="col">time</th>
            <th scope="col">best</th>
            {several && <th scope="col">bracket</th>}
            {Array.from({ length: rungs }, (_, rung) => (
              <th key={rung} scope="col">
                rung {rung + 1}
              </th>
            ))}
            <th scope="col">last decision</th>
          </tr>
        </thead>
        <tbody>
          {picture.trials.map(({ trial, state, time, best, bracket, reports, decisions }) => (
            <tr key={trial}>
              <th scope="row">
                <button type="button" onClick={() => onChoose(numberOf(trial))}>
                  {numberOf(trial)}
                </button>
              </th>
              <td>{state.replaceAll("_", " ")}</td>
              <td>{number(time)}</td>
              <td>{number(best)}</td>
              {several && <td>{bracket === undefined ? "" : bracket + 1}</td>}
              {Array.from({ length: rungs }, (_, rung) => {
                const report = reports.find((one) => one.rung === rung);
                return (
                  <td key={rung}>
                    {report !== undefined &&
                      `${report.rank}: ${number(report.value) || "no value"}`}
                  </td>
                );
              })}
              <td>{decisions.at(-1)?.sentence}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
