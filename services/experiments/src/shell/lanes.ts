/** The loops of this service that park what they cannot do. */
export const lanes = {
  awaiting: { service: "experiments", lane: 1 },
  deletions: { service: "experiments", lane: 2 },
  fanOuts: { service: "experiments", lane: 3 },
} as const;

/** Called for each action that a loop parks. */
export type Parking = { readonly onParked: () => void };
