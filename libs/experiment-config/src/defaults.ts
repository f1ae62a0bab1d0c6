/** All defaults, except those of the searchers and policies, which are defined beside their keys. */
export const defaults = {
  max_restarts: 5,
  /** Determined leaves the pool to the cluster; this platform's default is "default". */
  resources: {
    slots_per_trial: 1,
    resource_pool: "default",
    weight: 1,
    is_single_node: false,
  },
  /** In seconds, as in Determined. */
  preemption_timeout: 3_600,
  /** How many checkpoints outlive the experiment, as in Determined. */
  checkpoint_storage: { save_experiment_best: 0, save_trial_best: 1, save_trial_latest: 1 },
} as const;
