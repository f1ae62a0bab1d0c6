/** Events of other services as tests tell them. */
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

export function experimentCreated(): EventOf<"ExperimentCreated"> {
  return {
    type: "ExperimentCreated",
    data: {
      config: exampleConfig,
      configSourceDigest: "",
      contextDigest: "",
      contextBytes: 0,
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
