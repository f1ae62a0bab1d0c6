/** The whole document. */
import { z } from "zod";
import { configLimits } from "../limits.ts";
import { checkpointStorage } from "./checkpoint-storage.ts";
import { earlyStopping } from "./early-stopping.ts";
import { environment } from "./environment.ts";
import { hyperparameters } from "./hyperparameters.ts";
import { profiling } from "./profiling.ts";
import { resources } from "./resources.ts";
import { searcher } from "./searcher.ts";
import { anyText, count, flag, freeMapping, oneOf, section, text, texts } from "./values.ts";
import { withoutEffect } from "./without-effect.ts";

export const experiment = section({
  name: anyText,
  description: anyText,
  labels: oneOf(
    [texts, z.record(text, z.any())],
    "a list of texts (or a mapping whose keys are the labels)",
  ),
  workspace: anyText.refine(({ length }) => length <= configLimits.workspaceCharactersMax, {
    error: `must be a name of at most ${configLimits.workspaceCharactersMax} characters`,
  }),
  project: anyText,
  data: freeMapping,
  debug: flag,
  entrypoint: oneOf([text, z.array(text).min(1)], "a command: text, or a list of texts"),
  hyperparameters,
  searcher,
  early_stopping: earlyStopping,
  resources,
  max_restarts: z.int().min(0).max(configLimits.restartsMax),
  checkpoint_storage: checkpointStorage,
  environment,
  profiling,
  reproducibility: section({ experiment_seed: count }),
  ...withoutEffect,
});
