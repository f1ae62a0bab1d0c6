export const cliLimits = {
  /** Items fetched with one request; lists are shown whole. */
  pageSize: 500,
  /** Files of one context, so that a wrong folder is noticed before it is packed. */
  contextFilesMax: 50_000,
} as const;
