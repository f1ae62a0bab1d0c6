/** The offer of an agent to its pool. */
export type Offer = {
  readonly slots: readonly Slot[];
  readonly labels: Readonly<Record<string, string>>;
};

export type Slot = {
  readonly id: string;
  /** cpu, cuda or rocm; empty for a slot without a device. */
  readonly device: string;
  /** The memory of a CPU slot: its share of the host's. */
  readonly memoryBytes: number;
};
