export const tabIds = ["calls", "events"] as const;

export type ReferenceSearch = {
  /** The open tab; absent: the calls. */
  readonly tab?: "events" | undefined;
  /** The words that the shown entries have. */
  readonly q?: string | undefined;
  /** The id of the open entry. */
  readonly at?: string | undefined;
};

export function referenceSearchOf(search: Readonly<Record<string, unknown>>): ReferenceSearch {
  const { tab, q, at } = search;
  return {
    ...(tab === "events" ? { tab } : {}),
    ...(typeof q === "string" && q !== "" ? { q } : {}),
    ...(typeof at === "string" ? { at } : {}),
  };
}
