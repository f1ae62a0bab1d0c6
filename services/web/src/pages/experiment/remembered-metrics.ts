/** The metrics that a user has chosen for the curves of an experiment, kept in this browser. */

const storageKey = "trainyard.metrics.experiments";
/** Choices of more experiments are forgotten, the oldest first. */
const experimentsMax = 100;

/** Returns the choice for an experiment; undefined for none, or for an invalid entry of another version. */
export function chosenIn(text: string | null, experiment: string): string | undefined {
  return entriesIn(text).find(([id]) => id === experiment)?.[1];
}

/** Returns the stored text with the choice for an experiment. */
export function withChoice(text: string | null, experiment: string, chosen: string): string {
  const others = entriesIn(text).filter(([id]) => id !== experiment);
  return JSON.stringify([...others, [experiment, chosen]].slice(-experimentsMax));
}

function entriesIn(text: string | null): readonly (readonly [string, string])[] {
  const stored = parsed(text);
  if (!Array.isArray(stored)) return [];
  return (stored as readonly unknown[]).flatMap((one) => {
    const [id, chosen] = Array.isArray(one) ? (one as readonly unknown[]) : [];
    return typeof id === "string" && typeof chosen === "string" ? [[id, chosen] as const] : [];
  });
}

function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return null;
  }
}

export const rememberedMetrics = (experiment: string): string | undefined =>
  chosenIn(localStorage.getItem(storageKey), experiment);

export function rememberMetrics(experiment: string, chosen: string): void {
  localStorage.setItem(
    storageKey,
    withChoice(localStorage.getItem(storageKey), experiment, chosen),
  );
}
