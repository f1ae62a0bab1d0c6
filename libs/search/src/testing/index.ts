export { exampleOf, methods } from "./examples.ts";
export { ackley5, branin, hartmann6, rosenbrock4, type TestFunction } from "./functions.ts";
export { bestOfToy } from "./population-toy.ts";
export { type Moment, populationMoments, type SimulatedBy, simulatedMoments } from "./progress.ts";
export { recordedSearch } from "./recorded-search.ts";
export { arrivals, replacementsOf } from "./replacements.ts";
export { runSearch } from "../simulation/run.ts";
