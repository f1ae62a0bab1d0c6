/** Exports the rule of retention without the service, for test cases, simulations and benchmarks. */
export { evolveCheckpoint, unknownCheckpoint } from "./core/foreign/checkpoint.ts";
export type { Policy } from "./core/foreign/experiment.ts";
export { type Candidate, condemned } from "./core/retention-rule/condemned.ts";
export { needOfPins } from "./core/retention-rule/references.ts";
