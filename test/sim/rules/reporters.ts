import type { AnyEvent } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import type { Report } from "../invariants.ts";

/** The rule of reports: a run of a history that the log has lost reports nothing for a run of its name. */
export class ReporterRules {
  readonly #grants = new Map<string, string>();

  see(id: string, event: AnyEvent, stored: StoredEvent, report: Report): void {
    if (event.type === "AllocationGranted") this.#grants.set(id, stored.id);
    if (event.type !== "ValidationReported") return;
    const { trial, run, reportKey } = event.data;
    const [, reporter] = / by (\S+)$/.exec(reportKey) ?? [];
    const grant = this.#grants.get(`${trial}#${run}`);
    if (reporter === undefined || reporter === grant) return;
    report(`run ${trial}#${run} was granted by event ${grant}, and its reporter by ${reporter}`);
  }
}
