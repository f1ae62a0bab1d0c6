import type { BenchResult } from "./bench.ts";
import type { Machine } from "./machine.ts";

export type Report = {
  readonly name: string;
  readonly machine: Machine;
  readonly results: readonly BenchResult[];
};

/** Returns the JSON object of a run; its keys are part of the command's interface. */
export function reportOf(name: string, machine: Machine, results: readonly BenchResult[]): Report {
  return {
    name,
    machine,
    results: results.map(({ id, value, unit, baseline, ratio, floor, goal, note }) => ({
      id,
      value,
      unit,
      baseline,
      ratio,
      floor,
      goal,
      note,
    })),
  };
}

const shown = (value: number | null): string =>
  value === null ? "-" : value.toLocaleString("en-US", { maximumSignificantDigits: 4 });

function verdict({ ratio, floor, goal }: BenchResult): string {
  if (ratio === null) return "";
  if (floor !== null && ratio < floor) return "below the floor";
  return goal !== null && ratio >= goal ? "goal reached" : "";
}

export function tableOf({ name, machine, results }: Report): string {
  const others =
    machine.othersCpu === null ? "unknown" : `${Math.round(machine.othersCpu * 100)} %`;
  const header = ["id", "ours", "unit", "baseline", "ratio", "floor", "goal", "", "note"];
  const rows = results.map((result) => [
    result.id,
    shown(result.value),
    result.unit,
    shown(result.baseline),
    shown(result.ratio),
    shown(result.floor),
    shown(result.goal),
    verdict(result),
    result.note,
  ]);
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [
    `${name}: ${machine.cpus} × ${machine.cpuModel}, ${machine.memoryGiB} GiB, node ${machine.node}; others took ${others} of the CPU`,
    line(header),
    ...rows.map(line),
    "",
  ].join("\n");
}
