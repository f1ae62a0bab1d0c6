export const rateLimits = {
  /** The most buckets in a gateway: some ten megabytes. Beyond it the least recently used one counts as full again. */
  bucketsMax: 50_000,
  /** The bits of an IPv6 address that count: a site usually has a /64, so one client may use all of its addresses. */
  siteBits: 64,
} as const;
