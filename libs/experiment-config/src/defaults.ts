/** The one table of defaults outside of the searchers and the policies, which have their own beside their keys. */
export const defaults = {
  max_restarts: 5,
  /** The pool is what the platform takes where Determined leaves it to the cluster. */
  resources: {
    slots_per_trial: 1,
    resource_pool: "default",
    weight: 1,
    is_single_node: false,
  },
  /** Seconds, as Determined has it. */
  preemption_timeout: 3_600,
  /** How many checkpoints outlive the experiment, as Determined has it. */
  checkpoint_storage: { save_experiment_best: 0, save_trial_best: 1, save_trial_latest: 1 },
} as const;
