/**
 * Keys that work on every page: jumps, the search field, the list, help and the palette. Pure: maps a key to its
 * meaning.
 */
export type KeyMeaning =
  | { readonly kind: "go"; readonly to: string }
  | { readonly kind: "search" | "help" | "palette" | "list" | "jump" };

export type Pressed = {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
};

/** The page for each letter after `g`. */
export type Jumps = Readonly<Record<string, string>>;

/** Returns the meaning of a key. `isTyping`: the focus is in a field; `afterG`: the previous key was `g`. */
export function meaningOf(
  pressed: Pressed,
  at: { readonly isTyping: boolean; readonly afterG: boolean },
  jumps: Jumps,
): KeyMeaning | null {
  const { key, ctrlKey, metaKey, altKey } = pressed;
  if ((ctrlKey || metaKey) && key.toLowerCase() === "k") return { kind: "palette" };
  if (ctrlKey || metaKey || altKey || at.isTyping) return null;
  if (at.afterG) {
    const to = Object.hasOwn(jumps, key) ? jumps[key] : undefined;
    return to === undefined ? null : { kind: "go", to };
  }
  if (key === "g") return { kind: "jump" };
  if (key === "/") return { kind: "search" };
  if (key === "?") return { kind: "help" };
  return key === "j" || key === "k" || key === "x" ? { kind: "list" } : null;
}
