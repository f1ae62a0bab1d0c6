/** The limits of users, their passwords and their sign-ins. */
export const peopleLimits = {
  nameCharactersMax: 100,
  displayNameCharactersMax: 100,
  /** The longest address of RFC 5321 has 254. */
  emailCharactersMax: 254,
  reasonCharactersMax: 1_000,
  /**
   * The cost of a password's hash: 19 MiB and 2 passes are the least that OWASP recommends for argon2id. A stored hash
   * with lower parameters is replaced at the next sign-in.
   */
  hash: { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 },
  hashSaltBytes: 16,
  /** Hashes at once, each of which takes a thread and its memory, and those that wait: of all callers, and of one. */
  hashesMax: 2,
  hashesWaitingMax: 30,
  hashesOfOneMax: 10,
  /**
   * The wrong passwords that are free; each further one doubles the wait until the next try, from one second on. An
   * account under attack is slowed only for addresses that have sent a wrong password for it themselves.
   */
  wrongOfBothFree: 5,
  wrongOfOneFree: 100,
  wrongWaitSecondsMax: 900,
  /** The interval after which one wrong password is forgotten, so that the typing errors of days do not add up. */
  wrongForgottenSeconds: 900,
} as const;

/** The limits of sign-ins of programs. */
export const deviceLoginLimits = {
  /** The time in which a person must confirm. */
  minutes: 10,
  /** The seconds that a program waits between two questions. */
  intervalSeconds: 3,
  /** The most sign-ins that wait from one address, or of IPv6 from one /64, and in all. */
  ofAddressMax: 20,
  ofAllMax: 10_000,
  programCharactersMax: 100,
} as const;
