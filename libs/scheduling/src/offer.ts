/** The slots and labels that an agent offers to its pool. */
export type Offer = {
  readonly slots: readonly Slot[];
  readonly labels: Readonly<Record<string, string>>;
};

export type Slot = {
  readonly id: string;
  /** The device kind: `cpu`, `cuda` or `rocm`; empty for a slot without a device. */
  readonly device: string;
  /** The device's memory in bytes; a CPU slot has its share of the host's memory. */
  readonly memoryBytes: number;
};
