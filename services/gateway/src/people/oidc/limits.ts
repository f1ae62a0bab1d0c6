/** The limits of sign-in by identity providers. */
export const oidcLimits = {
  /** The time in which a person signs in at the provider, or confirms. */
  minutes: 10,
  /** The most sign-ins of one client's address that have begun and not ended. */
  ofAddressMax: 200,
  /** The age of a session beyond which it joins no identity: its person has signed in lately. */
  freshMinutes: 10,
  /** The time after which a session ends that an identity provider has opened. */
  sessionHours: 24,
  /** The longest wait for an answer of a provider. */
  answerSeconds: 10,
  /** The time for which the addresses of a provider are remembered. */
  discoveryMs: 600_000,
  /** The most that the clocks of a provider and a gateway differ. */
  clocksApartSeconds: 120,
  groupsMax: 200,
  pageCharactersMax: 1_000,
} as const;
