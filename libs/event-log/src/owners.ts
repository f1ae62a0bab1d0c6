/**
 * The roles that may append to each category, and the roles that may move cursors, park events and acquire leases for
 * each consumer.
 */
export type LogRoles = {
  /** The role of each category of streams. */
  readonly categories: Readonly<Record<string, string>>;
  /** The role of each consumer. A lease belongs to the consumer whose name is before the slash. */
  readonly consumers: Readonly<Record<string, string>>;
  /** Roles with read access only. */
  readonly readers?: readonly string[];
};

export const categoryOfStream = (stream: string): string => stream.slice(0, stream.indexOf("-"));
export const consumerOfLease = (lease: string): string => lease.split("/")[0] ?? lease;
