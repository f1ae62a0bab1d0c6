import { type RefObject, useEffect, useLayoutEffect, useReducer, useRef, useState } from "react";
import { freeRows, type Held, heldRows } from "./held.ts";

/** Reports whether the pointer or the focus is in an element. */
export function useInUse(place: RefObject<HTMLElement | null>): boolean {
  const [used, setUsed] = useState(false);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const listening = new AbortController();
    const { signal } = listening;
    let pointed = false;
    const update = (focused: EventTarget | null): void =>
      setUsed(pointed || (focused instanceof Node && element.contains(focused)));
    const onPointer = (isIn: boolean) => () => {
      pointed = isIn;
      update(document.activeElement);
    };
    element.addEventListener("pointerenter", onPointer(true), { signal });
    element.addEventListener("pointerleave", onPointer(false), { signal });
    // The document hears a focus elsewhere even if the focused element of the list was removed, which no event reports.
    document.addEventListener("focusin", ({ target }) => update(target), { signal });
    element.addEventListener("focusout", ({ relatedTarget }) => update(relatedTarget), { signal });
    return () => listening.abort();
  }, [place]);
  return used;
}

type Shown<Row> = { readonly list: string | null; readonly rows: readonly Row[] };

/**
 * Returns the rows to show of a list that changes: in the order that they have on the page while the list is in use,
 * otherwise the latest. `list` names the requested filter and order, so that another list is shown at once; it is null
 * while the rows are still those of the previous list. `show` shows the changes that are held back.
 */
export function useHeld<Row>(
  rows: readonly Row[],
  idOf: (row: Row) => string,
  used: boolean,
  list: string | null = "",
  appends = true,
): Held<Row> & { readonly show: () => void } {
  const shown = useRef<Shown<Row> | null>(null);
  const [, drawAgain] = useReducer((times: number) => times + 1, 0);
  const before = shown.current;
  const isHeld = used && before !== null && list !== null && before.list === list;
  const held = isHeld ? heldRows(before.rows, rows, idOf, appends) : freeRows(rows);
  useLayoutEffect(() => {
    shown.current = { list, rows: held.rows };
  });
  const show = (): void => {
    shown.current = null;
    drawAgain();
  };
  return { ...held, show };
}
