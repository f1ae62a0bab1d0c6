/**
 * Caches the metric names that this process has recorded, so that a report with known names writes none. They are
 * cached for a run: retention may have removed those of a trial before its next run.
 */
import type { ColumnKind } from "../core/columns/block.ts";
import type { NewReport } from "../core/writes.ts";
import { isScalar } from "../core/values.ts";
import { metricsLimits } from "../limits.ts";
import { type RunName, runName } from "./run-heads.ts";

export type MetricName = RunName & {
  readonly group: string;
  readonly name: string;
  readonly kind: ColumnKind;
};

/** The names of each group. They are looked up for every value of every report, so the keys are not concatenated. */
type KindNames = { readonly [Kind in ColumnKind]: Map<string, Set<string>> };

const noNames = (): KindNames => ({ scalar: new Map(), json: new Map() });

export class KnownNames {
  /** The names of each run, the least recently recorded first. */
  readonly #known = new Map<string, KindNames>();

  newIn(rows: readonly (NewReport & RunName)[]): readonly MetricName[] {
    const found: MetricName[] = [];
    const seen = new Map<string, KindNames>();
    for (const row of rows) {
      const { trial, run, group, metrics } = row;
      const known = this.#known.get(runName(row));
      const [scalars, others] = [known?.scalar.get(group), known?.json.get(group)];
      for (const name of Object.keys(metrics)) {
        const isNumber = isScalar(metrics[name] ?? null);
        if ((isNumber ? scalars : others)?.has(name) === true) continue;
        const kind = isNumber ? "scalar" : "json";
        const metric: MetricName = { trial, run, group, name, kind };
        if (addTo(seen, metric)) found.push(metric);
      }
    }
    return found;
  }

  /** Caches names that are in the database. */
  keep(names: readonly MetricName[]): void {
    for (const name of names) {
      // A group with more names records the rest again; the database ignores repeats.
      const size = this.#known.get(runName(name))?.[name.kind].get(name.group)?.size ?? 0;
      if (size < metricsLimits.namesKnownPerGroupMax) addTo(this.#known, name);
    }
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= metricsLimits.runsWithKnownNamesMax) return;
      this.#known.delete(oldest);
    }
  }

  forgetAll(): void {
    this.#known.clear();
  }
}

/** Adds a name; returns false for a known one. */
function addTo(runs: Map<string, KindNames>, metric: MetricName): boolean {
  const { group, name, kind } = metric;
  const kinds = runs.get(runName(metric)) ?? noNames();
  const names = kinds[kind].get(group) ?? new Set();
  runs.set(runName(metric), kinds);
  kinds[kind].set(group, names);
  const isNew = !names.has(name);
  names.add(name);
  return isNew;
}
