import type { Rule } from "./rule.ts";
import { timeFromClock } from "./rules/clock.ts";
import { oneConfigurationReader } from "./rules/configurations.ts";
import { contractsHold } from "./rules/contracts.ts";
import { linksHold } from "./rules/documents.ts";
import { environmentInConfig } from "./rules/environment.ts";
import { catalogued } from "./rules/events.ts";
import { namedExports } from "./rules/exports.ts";
import { foldsVerified } from "./rules/folds.ts";
import { foldersInOneDirection } from "./rules/folders.ts";
import { noForeignThings, noRegistryAddresses } from "./rules/foreign.ts";
import { layers, packageWalls, pureCores } from "./rules/imports.ts";
import { noModuleState } from "./rules/module-state.ts";
import { kebabCase, nouns, plainNames } from "./rules/names.ts";
import { serviceShape } from "./rules/service-shape.ts";
import { packagesArgued } from "./rules/packages.ts";
import { commentsBegin, commentsFit } from "./rules/comments.ts";
import { plainWords } from "./rules/plain-words.ts";
import { sentencesHold } from "./rules/sentences.ts";
import { fileSize, pythonFunctionSize } from "./rules/sizes.ts";
import { streamsListed } from "./rules/streams.ts";
import { reasonedSuppressions } from "./rules/suppressions.ts";
import { noTestMaterial } from "./rules/test-material.ts";
import { testNamesBegin } from "./rules/test-names.ts";
import {
  agentsAreMarked,
  everyTestRuns,
  integrationTestsAreNamed,
  noMocks,
} from "./rules/tests.ts";
import { userFiles } from "./rules/user-files.ts";
import { webColours, webFolders } from "./rules/web.ts";

export const houseRules: readonly Rule[] = [
  fileSize,
  pythonFunctionSize,
  kebabCase,
  plainNames,
  nouns,
  namedExports,
  layers,
  packageWalls,
  foldersInOneDirection,
  pureCores,
  noTestMaterial,
  noModuleState,
  reasonedSuppressions,
  environmentInConfig,
  timeFromClock,
  oneConfigurationReader,
  catalogued,
  foldsVerified,
  serviceShape,
  streamsListed,
  noRegistryAddresses,
  noForeignThings,
  userFiles,
  everyTestRuns,
  integrationTestsAreNamed,
  noMocks,
  agentsAreMarked,
  contractsHold,
  linksHold,
  sentencesHold,
  packagesArgued,
  commentsBegin,
  commentsFit,
  plainWords,
  testNamesBegin,
  webFolders,
  webColours,
];
