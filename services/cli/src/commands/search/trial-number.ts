import { UsageError } from "../../usage-error.ts";

/** The number of a trial that is asked for as 3 or 12.3; null for none. */
export function trialNumber(experiment: string, asked: string | undefined): number | null {
  if (asked === undefined) return null;
  const [, inside, alone] = /^(?:(\d+)\.)?(\d+)$/.exec(asked) ?? [];
  if (alone === undefined || (inside !== undefined && inside !== experiment)) {
    throw new UsageError(`${JSON.stringify(asked)} is not a trial of experiment ${experiment}.`);
  }
  return Number(alone);
}
