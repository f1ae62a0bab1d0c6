/** Conditions on the agents and devices of a run; all of them hold for each of its agents. */
export type Constraints = {
  /** cpu, cuda or rocm; empty for any. */
  readonly device: string;
  /** The least memory of each device. */
  readonly deviceMemoryBytes: number;
  readonly required: readonly LabelRule[];
  /** Agents with more of these labels are taken first. */
  readonly preferred: readonly LabelRule[];
  readonly forbidden: readonly LabelRule[];
  readonly excludedAgents: readonly string[];
  /** The agents of the run have the same value of this label; empty for no such condition. */
  readonly sameLabel: string;
};

export type LabelRule = {
  readonly label: string;
  /** One of these; none for any value. */
  readonly values: readonly string[];
};
