/** Draws a reported value that is not a scalar, by its shape. */
import type { JSX } from "react";
import {
  type BarsLayout,
  histogramLayout,
  listLayout,
  matrixCells,
  matrixShownMax,
} from "./layout.ts";
import { type Shape, shapeOf } from "./shape.ts";
import styles from "./value.module.css";

type Props = { readonly name: string; readonly value: unknown };

export function Value({ name, value }: Props): JSX.Element {
  const shape = shapeOf(value);
  return (
    <figure className={styles["value"]} data-kind={shape.kind}>
      <figcaption>{name}</figcaption>
      <Drawn name={name} shape={shape} />
    </figure>
  );
}

function Drawn({ name, shape }: { readonly name: string; readonly shape: Shape }): JSX.Element {
  switch (shape.kind) {
    case "boolean":
      return <p>{shape.value ? "✓ true" : "✗ false"}</p>;
    case "text":
      return <p className={styles["text"]}>{shape.text}</p>;
    case "list":
      return <Bars label={name} layout={listLayout(shape, size)} />;
    case "histogram":
      return <Bars label={name} layout={histogramLayout(shape, size)} />;
    case "matrix":
      return <Matrix label={name} {...shape} />;
    case "table":
      return <Rows label={name} {...shape} />;
    case "json":
      return <pre className={styles["text"]}>{shape.text.slice(0, jsonShownMax)}</pre>;
  }
}

const size = { width: 360, height: 140 };
const jsonShownMax = 20_000;
const rowsShownMax = 200;

function Bars({
  label,
  layout,
}: {
  readonly label: string;
  readonly layout: BarsLayout;
}): JSX.Element {
  const { bars, baseline, ticks } = layout;
  return (
    <svg
      viewBox={`0 0 ${size.width} ${size.height + 18}`}
      className={styles["bars"]}
      role="img"
      aria-label={`${label}: ${bars
        .map(({ title }) => title)
        .slice(0, 50)
        .join("; ")}`}
    >
      {bars.map(({ title, ...place }) => (
        <rect key={place.x} {...place}>
          <title>{title}</title>
        </rect>
      ))}
      <line x1={0} x2={size.width} y1={baseline} y2={baseline} />
      {ticks.map(({ x, text }) => (
        <text
          key={x}
          x={x}
          y={size.height + 14}
          textAnchor={x < 20 ? "start" : x > size.width - 20 ? "end" : "middle"}
        >
          {text}
        </text>
      ))}
    </svg>
  );
}

function Matrix({
  label,
  rows,
  labels,
}: { readonly label: string } & Extract<Shape, { kind: "matrix" }>): JSX.Element {
  const cells = matrixCells(rows);
  const width = rows[0]?.length ?? 0;
  const isCut = rows.length > matrixShownMax || width > matrixShownMax;
  return (
    <div className={styles["scroll"]}>
      <table className={styles["matrix"]} aria-label={label}>
        {labels.length > 0 && (
          <thead>
            <tr>
              <td />
              {cells[0]?.map(({ column }) => (
                <th key={column} scope="col">
                  {labels[column]}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {cells.map((row, at) => (
            <tr key={row[0]?.row ?? at}>
              {labels.length > 0 && <th scope="row">{labels[at]}</th>}
              {row.map(({ column, value, share }) => (
                <td key={column} style={{ ["--share" as string]: `${Math.round(share * 45)}%` }}>
                  {short(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {isCut && (
        <p className={styles["cut"]}>
          The first {matrixShownMax} of {rows.length} rows and {width} columns.
        </p>
      )}
    </div>
  );
}

const short = (value: number): string => String(Number(value.toPrecision(3)));

function Rows({
  label,
  columns,
  rows,
}: { readonly label: string } & Extract<Shape, { kind: "table" }>): JSX.Element {
  return (
    <div className={styles["scroll"]}>
      <table className={styles["rows"]} aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, rowsShownMax).map((cells, at) => (
            // Rows of a reported table have no identity but their position.
            <tr key={`${at} ${cells[0]}`}>
              {cells.map((cell, column) => (
                <td key={`${column} ${columns[column]}`} data-number={isNumber(cell)}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > rowsShownMax && (
        <p className={styles["cut"]}>
          The first {rowsShownMax} of {rows.length} rows.
        </p>
      )}
    </div>
  );
}

const isNumber = (cell: string): boolean => cell !== "" && Number.isFinite(Number(cell));
