export const outboundLimits = {
  /** The largest body that an event has with it: intermediaries of CloudEvents forward events up to 64 KiB. */
  bodyBytesMax: 64 * 1024,
  /** The most types, and the most conditions, of a filter. */
  filterPartsMax: 64,
} as const;
