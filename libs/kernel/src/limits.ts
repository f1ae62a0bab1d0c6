/** The limits that several parts share, each with its reason. */
export const limits = {
  /** Evidence is counts and neighbours, manifests are stored by digest: a larger event is a mistake. */
  eventBodyBytesMax: 256 * 1024,
  /** One append is one statement; more streams than this is a fan-out that takes several parts. */
  writesPerAppendMax: 256,
  /** The kernel refuses an environment variable of 128 KiB; the configuration is one of a trial's. */
  configBytesMax: 96 * 1024,
  /** Determined's users know about 95 MB; packed model code, not data. */
  contextBytesMax: 96 * 1024 * 1024,
  /** How long a read waits for a position that was named before it says 503. */
  readYourWritesMs: 2_000,
} as const;
