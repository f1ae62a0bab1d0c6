/** The theme's colours for a canvas, which cannot read the CSS tokens. */
import { useMemo, useSyncExternalStore } from "react";

const tokens = [
  "background",
  "surface",
  "line",
  "text",
  "muted",
  "accent",
  "violet",
  "amber",
  "green",
  "teal",
  "red",
  "grey",
] as const;

export type Colours = Readonly<Record<(typeof tokens)[number], string>> & {
  /** The hues of trials by their number: hue h is at h - 1. */
  readonly hues: readonly string[];
  readonly mono: string;
};

export function readColours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const read = (token: string): string => style.getPropertyValue(`--${token}`).trim();
  const named = Object.fromEntries(tokens.map((token) => [token, read(token)]));
  return {
    ...(named as Record<(typeof tokens)[number], string>),
    hues: [1, 2, 3, 4, 5, 6, 7, 8].map((hue) => read(`hue-${hue}`)),
    mono: read("mono"),
  };
}

function watchTheme(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => observer.disconnect();
}

/** Returns the colours of the current theme; a change of the theme renders again. */
export function useColours(): Colours {
  const theme = useSyncExternalStore(
    watchTheme,
    () => document.documentElement.dataset["theme"] ?? "",
  );
  return useMemo(readColours, [theme]);
}
