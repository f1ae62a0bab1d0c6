/** The alerts among the reports of training code: reports of the group `alert` whose metrics have a title. */
import type { EventData } from "@trainyard/contracts";
import { AlertLevel } from "@trainyard/contracts/events";
import type { NewReport } from "./writes.ts";

/** Alerts of one run that are recorded; the SDK sends no more. */
export const alertsPerRunMax = 100;

export type Alert = Pick<EventData<"AlertRaised">, "title" | "text" | "level" | "reportKey">;

const levels: ReadonlyMap<unknown, AlertLevel> = new Map([
  ["debug", AlertLevel.DEBUG],
  ["info", AlertLevel.INFO],
  ["warn", AlertLevel.WARN],
  ["error", AlertLevel.ERROR],
]);

/** Returns the alerts of the chief, in their order. A report of the group without a title is a report as any other. */
export function alertsOf(reports: readonly NewReport[]): readonly Alert[] {
  return reports.flatMap(({ group, rank, system, key, metrics }) => {
    if (group !== "alert" || rank !== 0 || system !== null) return [];
    const { title, text, level } = metrics;
    if (typeof title !== "string" || title === "") return [];
    return [
      {
        title,
        text: typeof text === "string" ? text : "",
        level: levels.get(level) ?? AlertLevel.INFO,
        reportKey: key,
      },
    ];
  });
}
