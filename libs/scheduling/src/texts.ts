/** Words for the requirements of a run on agents and their slots. */
import { type Conditions, type LabelRule, noConditions } from "./constraints.ts";

/** Returns a text like "2 cuda slots with 80 GB". */
export function slotsText(
  slots: number,
  { device, deviceMemoryBytes }: Pick<Conditions, "device" | "deviceMemoryBytes"> = noConditions,
): string {
  const kind = device === "" ? "" : `${device} `;
  const memory = deviceMemoryBytes > 0 ? ` with ${gigabytes(deviceMemoryBytes)} GB` : "";
  return `${slots} ${kind}${slots === 1 ? "slot" : "slots"}${memory}`;
}

/** Returns "is" for one thing, and "are" otherwise. */
export function areText(count: number): string {
  return count === 1 ? "is" : "are";
}

/** Returns the required and forbidden labels of an agent as texts like "zone a or b" and "no spot". */
export function labelTexts({ required, forbidden }: Conditions): readonly string[] {
  const text = ({ label, values }: LabelRule): string =>
    values.length === 0 ? label : `${label} ${values.join(" or ")}`;
  return [
    ...required.map((rule) => (rule.values.length === 0 ? `a ${rule.label}` : text(rule))),
    ...forbidden.map((rule) => `no ${text(rule)}`),
  ];
}

/** Returns a text like " with zone a and the same rack" for agents that share a run; empty without conditions. */
export function agentsText(conditions: Conditions): string {
  const { sameLabel } = conditions;
  const labels = [
    ...labelTexts(conditions),
    ...(sameLabel === "" ? [] : [`the same ${sameLabel}`]),
  ];
  return labels.length === 0 ? "" : ` with ${labels.join(" and ")}`;
}

/** Converts to gigabytes of 10^9 bytes, as vendors count them, rounded down to one decimal. */
function gigabytes(bytes: number): number {
  return Math.floor(bytes / 1e8) / 10;
}
