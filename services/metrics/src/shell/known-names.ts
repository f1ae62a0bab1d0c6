/** The names that this process has recorded already, so that a report with known ones writes none. */
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

export class KnownNames {
  /** By trial, the least recently recorded first. */
  readonly #known = new Map<string, Set<string>>();

  newIn(rows: readonly (NewReport & { readonly trial: string })[]): readonly MetricName[] {
    const found = new Map<string, MetricName>();
    for (const { trial, group, metrics } of rows) {
      const known = this.#known.get(trial);
      for (const name of Object.keys(metrics)) {
        const kind = isScalar(metrics[name] ?? null) ? "scalar" : "json";
        const id = idOf(group, kind, name);
        if (known?.has(id) !== true) found.set(`${trial} ${id}`, { trial, group, name, kind });
      }
    }
    return [...found.values()];
  }

  /** They are in the database. */
  keep(names: readonly MetricName[]): void {
    for (const { trial, group, name, kind } of names) {
      const known = this.#known.get(trial) ?? new Set();
      this.#known.delete(trial);
      // A trial of more names records the others again; the database takes them once.
      if (known.size < metricsLimits.namesKnownPerTrialMax) known.add(idOf(group, kind, name));
      this.#known.set(trial, known);
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

// Names have no line ends.
const idOf = (group: string, kind: ColumnKind, name: string): string =>
  `${kind}\n${group}\n${name}`;
