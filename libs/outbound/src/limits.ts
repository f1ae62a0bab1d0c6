export const outboundLimits = {
  /** The largest body that an event has with it: intermediaries of CloudEvents forward events up to 64 KiB. */
  bodyBytesMax: 64 * 1024,
  /** The most types, and the most conditions, of a filter. */
  filterPartsMax: 64,
  /** The most characters of a part: names and ids are shorter, and each change reads all filters. */
  filterPartCharactersMax: 1_024,
  /** The latest events that are kept for the readers that are level with the log. */
  recentEventsMax: 4_096,
  /** The most bytes of their bodies. */
  recentBytesMax: 16 * 1024 * 1024,
  /** The waits before the log is read again after it was unavailable. */
  retry: { firstMs: 100, lastMs: 5_000, spread: 0.2 },
  /** The events that a reader gets at once, from the log or from the latest events. */
  pageEvents: 500,
} as const;
