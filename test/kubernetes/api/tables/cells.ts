// Texts in tables. Source: docs, "kubectl get" and the output of kubectl 1.33.
import type { KubeObject } from "../object-store.ts";

/** "5s", "4m10s", "3h", "2d5h": two units while the first is small. */
export const durationText = (milliseconds: number): string => {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const two = (big: number, a: string, small: number, b: string): string =>
    small === 0 ? `${big}${a}` : `${big}${a}${small}${b}`;
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return two(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return two(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  if (days < 8) return two(days, "d", hours % 24, "h");
  return `${days}d`;
};

export const age = (time: string | undefined): string =>
  time === undefined ? "<unknown>" : durationText(Date.now() - Date.parse(time));

export const orNone = (text: string | undefined): string => (text ? text : "<none>");

export const labelsText = (labels: Record<string, string> | undefined): string =>
  orNone(
    Object.entries(labels ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .join(","),
  );

type Expression = { key: string; operator: string; values?: string[] };

export const selectorText = (selector: KubeObject["selector"]): string => {
  const expressions = ((selector?.matchExpressions ?? []) as Expression[]).map(
    ({ key, operator, values = [] }) =>
      operator === "Exists"
        ? key
        : operator === "DoesNotExist"
          ? `!${key}`
          : `${key} ${operator.toLowerCase()} (${values.join(",")})`,
  );
  const labels = Object.entries((selector?.matchLabels ?? {}) as Record<string, string>);
  return orNone([...labels.map(([key, value]) => `${key}=${value}`), ...expressions].join(","));
};

type Container = { name: string; image: string };

export const containerNames = (spec: KubeObject["spec"]): string =>
  ((spec?.containers ?? []) as Container[]).map(({ name }) => name).join(",");

export const containerImages = (spec: KubeObject["spec"]): string =>
  ((spec?.containers ?? []) as Container[]).map(({ image }) => image).join(",");
