/** Caches the metric names that this process has recorded, so that a report with known names writes none. */
import type { ColumnKind } from "../core/columns/block.ts";
import type { NewReport } from "../core/writes.ts";
import { isScalar } from "../core/values.ts";
import { metricsLimits } from "../limits.ts";

export type MetricName = {
  readonly trial: string;
  readonly group: string;
  readonly name: string;
  readonly kind: ColumnKind;
};

/** The names of each group. They are looked up for every value of every report, so the keys are not concatenated. */
type KindNames = { readonly [Kind in ColumnKind]: Map<string, Set<string>> };

const noNames = (): KindNames => ({ scalar: new Map(), json: new Map() });

export class KnownNames {
  /** The names of each trial, the least recently recorded first. */
  readonly #known = new Map<string, KindNames>();

  newIn(rows: readonly (NewReport & { readonly trial: string })[]): readonly MetricName[] {
    const found: MetricName[] = [];
    const seen = new Map<string, KindNames>();
    for (const { trial, group, metrics } of rows) {
      const known = this.#known.get(trial);
      const [scalars, others] = [known?.scalar.get(group), known?.json.get(group)];
      for (const name of Object.keys(metrics)) {
        const isNumber = isScalar(metrics[name] ?? null);
        if ((isNumber ? scalars : others)?.has(name) === true) continue;
        const kind = isNumber ? "scalar" : "json";
        if (addTo(seen, { trial, group, name, kind })) found.push({ trial, group, name, kind });
      }
    }
    return found;
  }

  /** Caches names that are in the database. */
  keep(names: readonly MetricName[]): void {
    for (const name of names) {
      // A group with more names records the rest again; the database ignores repeats.
      const size = this.#known.get(name.trial)?.[name.kind].get(name.group)?.size ?? 0;
      if (size < metricsLimits.namesKnownPerGroupMax) addTo(this.#known, name);
    }
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= metricsLimits.trialsKnownMax) return;
      this.#known.delete(oldest);
    }
  }

  forgetAll(): void {
    this.#known.clear();
  }
}

/** Adds a name; returns false for a known one. */
function addTo(trials: Map<string, KindNames>, { trial, group, name, kind }: MetricName): boolean {
  const kinds = trials.get(trial) ?? noNames();
  const names = kinds[kind].get(group) ?? new Set();
  trials.set(trial, kinds);
  kinds[kind].set(group, names);
  const isNew = !names.has(name);
  names.add(name);
  return isNew;
}
