/** What waits for a place. */
export type Demand = {
  readonly id: string;
  /** 0 runs beside others and takes none. */
  readonly slots: number;
  /** Lower is placed first. */
  readonly priority: number;
  /** All slots on one agent, or none. */
  readonly singleAgent: boolean;
  /** Rises with every arrival: the log position at which it was queued. */
  readonly arrival: number;
  /** Agents that it does not go to while another could take it: its launches failed there. */
  readonly avoid?: readonly string[];
};

/** Demands that are equal in this fit or do not fit together. */
export function shapeOf({ slots, singleAgent, avoid = [] }: Demand): string {
  return `${slots}/${singleAgent}/${avoid.join(" ")}`;
}

/** The part of an allocation on one agent. The order of a grant's placements is the order of node ranks. */
export type Share = { readonly agent: string; readonly slots: readonly string[] };

export type Grant = { readonly id: string; readonly shares: readonly Share[] };
