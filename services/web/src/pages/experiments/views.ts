/** Saved views: named URLs in this browser. */
import { readSearch, type Search } from "./search.ts";

export type View = { readonly name: string; readonly search: Search };

const storageKey = "trainyard.views.experiments";

/** Reads saved views; leaves out invalid entries of other versions or programs. */
export function readViews(text: string | null): readonly View[] {
  const stored = parsed(text);
  if (!Array.isArray(stored)) return [];
  return (stored as readonly unknown[]).flatMap((one) => {
    const { name, search } = (one ?? {}) as { readonly name?: unknown; readonly search?: unknown };
    if (typeof name !== "string" || typeof search !== "object" || search === null) return [];
    return [{ name, search: readSearch(search as Record<string, unknown>) }];
  });
}

function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return null;
  }
}

/** Adds a view, replacing one of the same name. The inspector is not part of a view. */
export function withView(
  views: readonly View[],
  name: string,
  { at: _at, ...search }: Search,
): readonly View[] {
  return [...withoutView(views, name), { name, search }].toSorted((a, b) =>
    a.name.localeCompare(b.name),
  );
}

export const withoutView = (views: readonly View[], name: string): readonly View[] =>
  views.filter((view) => view.name !== name);

export const storedViews = (): readonly View[] => readViews(localStorage.getItem(storageKey));

export function storeViews(views: readonly View[]): void {
  localStorage.setItem(storageKey, JSON.stringify(views));
}
