export {
  isAllowedValue,
  isSameValue,
  keysOfPointer,
} from "./conditions.ts";
export {
  type CheckpointStorage,
  checkpointFolder,
  type DirectoryStorage,
  type GpSearcher,
  type GridSearcher,
  hyperparameterSpace,
  type NormalisedConfig,
  type RandomSearcher,
  type SearcherConfig,
  type SearchObjective,
  type SharedFsStorage,
  type SingleSearcher,
  type SobolSearcher,
  type TpeSearcher,
  withSeed,
} from "./config.ts";
export type { CustomSearcher } from "./custom.ts";
export {
  type ArithmeticOperator,
  type ComparisonOperator,
  type Expression,
  type ExpressionFunction,
  parseExpression,
} from "./expression/expression.ts";
export type {
  BudgetPolicy,
  EarlyStoppingPolicy,
  MedianPolicy,
  NoImprovementPolicy,
  PbtPolicy,
  PercentilePolicy,
  ThresholdPolicy,
  TrialPolicy,
} from "./early-stopping.ts";
export {
  type AdaptiveAshaSearcher,
  type AshaSearcher,
  type AsyncHalvingSearcher,
  type AutoSearcher,
  type BohbSearcher,
  floorLog,
  type HalvingSearcher,
  type HyperbandSearcher,
  hyperbandTrials,
} from "./halving.ts";
export type {
  AllowedValues,
  CategoricalHyperparameter,
  Conditions,
  ConstHyperparameter,
  DoubleHyperparameter,
  HyperparameterSpace,
  IntHyperparameter,
  LogHyperparameter,
  TypedHyperparameter,
} from "./hyperparameters.ts";
export { type Json, type JsonObject, keyPath, pathOf, sortedKeys } from "./json.ts";
export { exportJsonSchema } from "./json-schema.ts";
export { configLimits } from "./limits.ts";
export type { VariablesByDevice } from "./parts/environment.ts";
export {
  invalidConfig,
  type ParsedExperiment,
  type ParseOptions,
  parseExperiment,
} from "./parse.ts";
export { type ConfigPart, configPart } from "./parts/named.ts";
export { parseForRecorded, type RecordedTrainings } from "./simulated.ts";
export type {
  PbtSearcher,
  PopulationSearcher,
  ScheduleSearcher,
  ScheduleSegment,
} from "./population.ts";
export { isWithin } from "./population-space.ts";
export { trainsToTheEnd } from "./schema/searcher.ts";
export { gridAxisLength, gridSize, isTyped, type SpaceNode } from "./space.ts";
export { type WarmStart, whyNoValue } from "./warm-start.ts";
