/** The facts of the index, folded from a log in memory by the service's own rules, in place of its tables. */
import { decodeEvent } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import { idOf, parseReportKey, runId } from "@trainyard/kernel";
import { type IndexFact, indexFacts } from "../core/index-facts.ts";
import { awaitedOf } from "../core/retention-rule/awaited.ts";
import type { Candidate } from "../core/retention-rule/condemned.ts";

type Fact = IndexFact & { readonly timeMs: number };
type Ended = IndexFact & { readonly kind: "run_ended" };
type Declared = IndexFact & { readonly kind: "declared" };

export class MemoryFacts {
  readonly #facts: Fact[] = [];
  #position = 0;

  /** Folds the events that are new. */
  see(events: readonly StoredEvent[]): void {
    for (const stored of events.slice(this.#position)) {
      const facts = indexFacts(decodeEvent(stored), idOf(stored.stream));
      this.#facts.push(...facts.map((fact) => ({ ...fact, timeMs: stored.timeMs })));
    }
    this.#position = events.length;
  }

  referrers(checkpoint: string): readonly string[] {
    /** Whether the reference of each trial or experiment counts. */
    const counts = new Map<string, boolean>();
    for (const fact of this.#facts) {
      if (fact.kind === "refers" && fact.checkpoint === checkpoint) counts.set(fact.referrer, true);
      if (!("referrer" in fact) || !counts.has(fact.referrer)) continue;
      if (fact.kind === "references_count") counts.set(fact.referrer, true);
      if (fact.kind === "references_rest") counts.set(fact.referrer, false);
      if (fact.kind === "references_end") counts.delete(fact.referrer);
    }
    return [...counts].flatMap(([referrer, isCounted]) => (isCounted ? [referrer] : []));
  }

  awaited({ checkpoint, trial, run }: Candidate, nowMs: number): string | undefined {
    const own = this.#facts.filter(
      (fact) => "run" in fact && fact.trial === trial && fact.run === run,
    );
    const declared = own.filter((fact): fact is Fact & Declared => fact.kind === "declared");
    const at = declared.findIndex((one) => one.checkpoint === checkpoint);
    const arrived: Record<string, number> = {};
    for (const fact of own) {
      if (fact.kind !== "arrived") continue;
      const { nodeRank, number } = fact.key;
      arrived[nodeRank] = Math.max(arrived[nodeRank] ?? 0, number);
    }
    const ends = own.filter((fact): fact is Fact & Ended => fact.kind === "run_ended");
    const [first] = ends;
    const lastValidation = ends.findLast((one) => one.lastValidation !== null)?.lastValidation;
    const end =
      first === undefined
        ? null
        : { endedMs: first.timeMs, lastValidation: lastValidation ?? null };
    const next = declared.slice(at + 1).find((one) => isRecordedAfter(one, declared[at]));
    const id = runId(trial, run);
    return awaitedOf({ id, next: next?.lastValidation ?? null, end, arrived }, nowMs);
  }
}

/** Whether a declaration was not merely sent later: a checkpoint that cannot be read lets the others pass. */
function isRecordedAfter(one: Declared, own: Declared | undefined): boolean {
  const [number, before] = [numberOf(one), own === undefined ? 0 : numberOf(own)];
  return number > before || (number === before && one.step >= (own?.step ?? 0));
}

const numberOf = ({ lastValidation }: Declared): number =>
  parseReportKey(lastValidation)?.number ?? 0;
