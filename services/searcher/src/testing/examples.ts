/** Events of other services for tests. */
import type { EventOf } from "@trainyard/contracts";
import type { TrialOutcome } from "@trainyard/contracts/events";

export const exampleConfig = {
  name: "iris",
  description: "",
  labels: [],
  workspace: "",
  project: "",
  entrypoint: "python3 train.py",
  hyperparameters: { lr: { type: "double", minval: 0, maxval: 1, count: null } },
  searcher: {
    name: "random",
    metric: "loss",
    smaller_is_better: true,
    max_trials: 3,
    max_concurrent_trials: 2,
  },
  resources: { slots_per_trial: 1, priority: 42, resource_pool: "default" },
  max_restarts: 5,
  data: {},
  debug: false,
};

/** A population of two members; the worse one copies the better one every ten steps. */
export const populationConfig = {
  ...exampleConfig,
  searcher: {
    name: "pbt",
    metric: "loss",
    smaller_is_better: true,
    time_metric: "",
    population_size: 2,
    max_concurrent_trials: 0,
    max_time: 100,
    interval: 10,
    burn_in: 0,
    quantile: 0.25,
    exploit: "truncation",
    resample_probability: 0.25,
    perturb_factors: [0.8, 1.2],
    mutate: [],
    max_trials: 20,
  },
};

export function experimentCreated(): EventOf<"ExperimentCreated"> {
  return {
    type: "ExperimentCreated",
    data: {
      config: exampleConfig,
      configSourceDigest: "",
      contextDigest: "",
      contextBytes: 0,
      submissionDigest: "",
      tokenId: "",
      seed: 7,
      name: "",
      description: "",
      labels: [],
      owner: "",
      workspace: "",
      project: "",
    },
  };
}

export function trialEnded(outcome: TrialOutcome): EventOf<"TrialEnded"> {
  return { type: "TrialEnded", data: { outcome, reason: "", restarts: 0 } };
}
