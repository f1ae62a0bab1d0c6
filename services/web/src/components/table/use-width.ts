import { type RefObject, useLayoutEffect, useState } from "react";

/** The width inside an element, without its scroll bar; undefined until the element is drawn. */
export function useWidth(place: RefObject<HTMLElement | null>): number | undefined {
  const [width, setWidth] = useState<number | undefined>();
  // Before the first paint: columns that took their width afterwards would jump.
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    const read = (): void => setWidth(element.clientWidth);
    read();
    const observer = new ResizeObserver(read);
    observer.observe(element);
    return () => observer.disconnect();
  }, [place]);
  return width;
}
