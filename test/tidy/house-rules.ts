import type { Rule } from "./rule.ts";
import { oneConfigurationReader } from "./rules/configurations.ts";
import { contractsHold, linksHold } from "./rules/documents.ts";
import { environmentInConfig } from "./rules/environment.ts";
import { catalogued } from "./rules/events.ts";
import { namedExports } from "./rules/exports.ts";
import { foldsVerified } from "./rules/folds.ts";
import { noForeignThings, noRegistryAddresses } from "./rules/foreign.ts";
import { layers, packageWalls, pureCores } from "./rules/imports.ts";
import { noModuleState } from "./rules/module-state.ts";
import { kebabCase, plainNames } from "./rules/names.ts";
import { serviceShape } from "./rules/service-shape.ts";
import { packagesArgued } from "./rules/packages.ts";
import { sentencesHold } from "./rules/sentences.ts";
import { fileSize, pythonFunctionSize } from "./rules/sizes.ts";
import { reasonedSuppressions } from "./rules/suppressions.ts";
import { everyTestRuns, noMocks } from "./rules/tests.ts";

export const houseRules: readonly Rule[] = [
  fileSize,
  pythonFunctionSize,
  kebabCase,
  plainNames,
  namedExports,
  layers,
  packageWalls,
  pureCores,
  noModuleState,
  reasonedSuppressions,
  environmentInConfig,
  oneConfigurationReader,
  catalogued,
  foldsVerified,
  serviceShape,
  noRegistryAddresses,
  noForeignThings,
  everyTestRuns,
  noMocks,
  contractsHold,
  linksHold,
  sentencesHold,
  packagesArgued,
];
