/** The configured policies of a search, numbered. */
import {
  type BudgetPolicy,
  type EarlyStoppingPolicy,
  type JsonObject,
  type NoImprovementPolicy,
  type PbtPolicy,
  readEarlyStopping,
  type SearcherConfig,
  searcherFacts,
} from "@trainyard/experiment-config";
import { assertNever } from "@trainyard/kernel";
import { derivedFrom } from "../derived.ts";
import type { SearchPlan } from "../state.ts";

/** The version is raised when the policies would decide differently on the same history. */
export const POLICIES_VERSION = 1;

/** Reads the policies as SearchStarted records them. */
export function policiesIn(recorded: JsonObject | undefined): readonly EarlyStoppingPolicy[] {
  return readEarlyStopping(recorded?.["any"]);
}

/** The time at which the search itself stops trials that would train to the end of their code; null for none. */
export function maxTimeOf(searcher: SearcherConfig): number | null {
  if (!("max_time" in searcher) || !searcherFacts(searcher.name).trainsToTheEnd) return null;
  return searcher.max_time ?? null;
}

export type Leaf = Exclude<EarlyStoppingPolicy, { any: unknown } | { all: unknown }>;

/** A policy with its number among those of the same kind, under which its state is kept. */
export type Rule =
  | { readonly any: readonly Rule[] }
  | { readonly all: readonly Rule[] }
  | { readonly policy: Leaf; readonly index: number };

export type Rules = {
  readonly list: readonly Rule[];
  /** The policies for which the state has the patience of each trial, and those for which it has a population. */
  readonly patient: readonly NoImprovementPolicy[];
  readonly population: readonly PbtPolicy[];
  /** Whether a policy compares a trial with the averages of the others. */
  readonly comparing: boolean;
  readonly budget: BudgetPolicy | null;
};

export function rulesOf(plan: SearchPlan): Rules {
  return derivedFrom(plan, numberedRules);
}

function numberedRules({ earlyStopping }: SearchPlan): Rules {
  const leaves: Leaf[] = [];
  const ruleOf = (policy: EarlyStoppingPolicy): Rule => {
    if ("any" in policy) return { any: policy.any.map(ruleOf) };
    if ("all" in policy) return { all: policy.all.map(ruleOf) };
    const index = leaves.filter(({ name }) => name === policy.name).length;
    leaves.push(policy);
    return { policy, index };
  };
  const list = earlyStopping.map(ruleOf);
  return { list, ...needsOf(leaves) };
}

/** The policies by the state that they need (`state.ts`). A policy that is missing here is a type error. */
function needsOf(leaves: readonly Leaf[]): Omit<Rules, "list"> {
  const patient: NoImprovementPolicy[] = [];
  const population: PbtPolicy[] = [];
  let comparing = false;
  let budget: BudgetPolicy | null = null;
  for (const policy of leaves) {
    switch (policy.name) {
      case "no_improvement":
        patient.push(policy);
        break;
      case "pbt":
        population.push(policy);
        break;
      case "median":
      case "percentile":
        comparing = true;
        break;
      case "budget":
        budget ??= policy;
        break;
      case "threshold":
      case "not_finite":
        // A report alone decides.
        break;
      default:
        assertNever(policy, "a policy");
    }
  }
  return { patient, population, comparing, budget };
}
