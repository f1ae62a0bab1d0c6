import { useRouter } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { clock } from "../data/clock.ts";
import { type Jumps, type KeyMeaning, meaningOf } from "./keys.ts";
import { places } from "./places.ts";

const jumps: Jumps = Object.fromEntries(places.map(({ key, to }) => [key, to]));
const jumpMs = 1_200;

/** Listens to the keys of the whole page. `open` is called for keys that open help or the palette. */
export function useKeys(open: (what: "help" | "palette") => void): void {
  const { history } = useRouter();
  const jumpedAt = useRef(Number.NEGATIVE_INFINITY);
  const opener = useRef(open);
  opener.current = open;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented) return;
      const afterG = clock.monotonicMs() - jumpedAt.current < jumpMs;
      jumpedAt.current = Number.NEGATIVE_INFINITY;
      const isTyping = isField(event.target) || document.querySelector("[role=dialog]") !== null;
      const meaning = meaningOf(event, { isTyping, afterG }, jumps);
      if (meaning === null) return;
      event.preventDefault();
      if (meaning.kind === "jump") jumpedAt.current = clock.monotonicMs();
      else if (meaning.kind === "go") history.push(meaning.to);
      else if (meaning.kind === "help" || meaning.kind === "palette") opener.current(meaning.kind);
      else focusFor(meaning.kind, event);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [history]);
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches("input, textarea, select, [role=menu] *"));

/** Moves the focus: `/` to the page's search field, j, k and x to its list. */
function focusFor(
  kind: Extract<KeyMeaning["kind"], "search" | "list">,
  event: KeyboardEvent,
): void {
  if (kind === "search") {
    document.querySelector<HTMLInputElement>("main [data-search]")?.focus();
    return;
  }
  const grid = document.querySelector<HTMLElement>("main [role=grid]");
  if (grid === null || grid === document.activeElement) return;
  grid.focus();
  grid.dispatchEvent(
    new KeyboardEvent("keydown", { key: event.key, bubbles: true, cancelable: true }),
  );
}
