/** Assembles reports that arrive in parts. If too many are incomplete, the oldest are dropped. */
import type { Plain } from "@trainyard/contracts";
import type { Report } from "@trainyard/contracts/agent";
import { limits } from "../../limits.ts";

type Begun = { readonly sequence: number; readonly parts: Map<number, Plain<Report>> };

export class ReportParts {
  /** The newest report, complete or in part, of each start of an agent. */
  readonly #begun = new Map<string, Begun>();

  /** Returns the whole report with its last part, in any order of parts; null while a part is missing. */
  join(report: Plain<Report>): Plain<Report> | null {
    const { agent, incarnation, sequence, part = 1, parts = 1 } = report;
    const name = `${agent} ${incarnation}`;
    if (parts <= 1) return report;
    const isPart = Number.isInteger(part) && part >= 1 && part <= parts;
    if (!isPart || parts > limits.reportPartsMax) return null;
    const before = this.#begun.get(name);
    if (before !== undefined && sequence < before.sequence) return null;
    const begun: Begun =
      before?.sequence === sequence
        ? before
        : { sequence, parts: new Map<number, Plain<Report>>() };
    begun.parts.set(part, report);
    this.#begun.delete(name);
    if (begun.parts.size < parts) {
      this.#begun.set(name, begun);
      if (this.#begun.size > limits.reportsBegunMax) {
        this.#begun.delete([...this.#begun.keys()][0] ?? "");
      }
      return null;
    }
    const whole = [...begun.parts].toSorted(([a], [b]) => a - b).map(([, one]) => one);
    return { ...report, allocations: whole.flatMap(({ allocations }) => allocations) };
  }
}
