import { UsageError } from "../../usage-error.ts";

/** Parses the number of a trial from "3" or "12.3"; null if none was given. */
export function trialNumber(experiment: string, asked: string | undefined): number | null {
  if (asked === undefined) return null;
  const [, inside, alone] = /^(?:(\d+)\.)?(\d+)$/.exec(asked) ?? [];
  if (alone === undefined || (inside !== undefined && inside !== experiment)) {
    throw new UsageError(`${JSON.stringify(asked)} is not a trial of experiment ${experiment}.`);
  }
  return Number(alone);
}
