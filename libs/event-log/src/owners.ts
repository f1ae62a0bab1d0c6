/** The roles that may append to each category, and that may move, park and lease for each consumer. */
export type LogRoles = {
  /** Category of streams → role. */
  readonly categories: Readonly<Record<string, string>>;
  /** Consumer → role. A lease belongs to the consumer that its name begins with, up to the slash. */
  readonly consumers: Readonly<Record<string, string>>;
  /** Roles that only read. */
  readonly readers?: readonly string[];
};

export const categoryOfStream = (stream: string): string => stream.slice(0, stream.indexOf("-"));
export const consumerOfLease = (lease: string): string => lease.split("/")[0] ?? lease;
