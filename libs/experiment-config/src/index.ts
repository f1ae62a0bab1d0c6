export {
  type CheckpointStorage,
  hyperparameterSpace,
  type NormalisedConfig,
  withSeed,
} from "./config.ts";
export {
  type BudgetPolicy,
  type EarlyStoppingPolicy,
  type NoImprovementPolicy,
  type PbtPolicy,
  type PolicyName,
  type PolicyOf,
  readEarlyStopping,
  type ThresholdPolicy,
  type TrialPolicy,
} from "./early-stopping/policies.ts";
export type { LabelRules, PlaceConstraints } from "./sections/constraints.ts";
export { IN_CONTAINERS } from "./sections/module.ts";
export type { VariablesByDevice } from "./sections/variables.ts";
export {
  type ArithmeticOperator,
  type ComparisonOperator,
  type Expression,
  type ExpressionFunction,
  parseExpression,
} from "./expression/expression.ts";
export { isAllowedValue, isSameValue, keysOfPointer } from "./hyperparameters/conditions.ts";
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
} from "./hyperparameters/hyperparameters.ts";
export { nearestStep, type Steps, stepsOf, valueOfStep } from "./hyperparameters/steps.ts";
export {
  gridAxisLength,
  gridSize,
  isConditional,
  isTyped,
  type SpaceNode,
} from "./hyperparameters/space.ts";
export { entrypointScript } from "./entrypoint-script.ts";
export { type Json, type JsonObject, keyPath, pathOf, sortedKeys } from "./json.ts";
export { exportJsonSchema, exportTaskJsonSchema } from "./json-schema.ts";
export { configLimits } from "./limits.ts";
export {
  invalidConfig,
  type ParsedExperiment,
  type ParseOptions,
  parseExperiment,
} from "./parse.ts";
export { type ConfigPart, configPart } from "./parts/named.ts";
export { closest } from "./suggest.ts";
export { resubmitted } from "./resubmitted.ts";
export { floorLog, hyperbandTrials } from "./searcher/halving.ts";
export type { SearchObjective, SeveralObjectives } from "./searcher/objectives.ts";
export type { ScheduleSegment } from "./searcher/population.ts";
export { whyNoValue } from "./searcher/point-problems.ts";
export { isWithin } from "./searcher/population-space.ts";
export {
  type AdaptiveAshaSearcher,
  type AshaSearcher,
  type AsyncHalvingSearcher,
  type AutoSearcher,
  type BohbSearcher,
  type CustomSearcher,
  type HalvingSearcher,
  type HyperbandSearcher,
  isSearcherName,
  type PbtSearcher,
  readSearcher,
  type ScheduleSearcher,
  type SearcherConfig,
  searcherFacts,
  type SearcherName,
  type SearcherOf,
} from "./searcher/searcher.ts";
export { logPatternProblem } from "./sections/log-policies.ts";
export type { WarmStart } from "./searcher/warm-start.ts";
export { parseForRecorded, type RecordedTrainings } from "./simulated.ts";
export { namedSource, withSource } from "./searcher/warm-start-source.ts";
export { defaultedPaths } from "./submitted/defaulted.ts";
export {
  maskedOverrides,
  maskedSource,
  submittedDocument,
  withMaskedValues,
} from "./submitted/masked-source.ts";
export { resubmittedText } from "./submitted/resubmitted-text.ts";
export { type MaskedPath, maskedDocument, maskedPaths, maskedValue } from "./submitted/secrets.ts";
export { type ParsedTask, parseTask, type TaskParseOptions } from "./tasks/parse.ts";
