import { type RefObject, useEffect, useRef } from "react";
import { Plot, type PlotEvents, type PlotOptions, type View } from "./plot.ts";

/** Creates a plot in the element of the returned ref. A change of the options creates a new plot. */
export function usePlot(
  view: View,
  options: Omit<PlotOptions, "width">,
  events: PlotEvents,
): RefObject<HTMLDivElement | null> {
  const { height, log, time, whole, xTitle, yTitle, syncKey, colours } = options;
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const latest = useRef({ view, events });
  latest.current = { view, events };
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const width = Math.max(element.clientWidth, 40);
    const made = new Plot(
      element,
      { width, height, log, time, whole, xTitle, yTitle, syncKey, colours },
      {
        onPoint: (point) => latest.current.events.onPoint(point),
        onZoom: (range) => latest.current.events.onZoom(range),
        onReset: () => latest.current.events.onReset(),
      },
    );
    made.show(latest.current.view);
    plot.current = made;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0) made.resize(element.clientWidth, height);
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [height, log, time, whole, xTitle, yTitle, syncKey, colours]);
  useEffect(() => plot.current?.show(view), [view]);
  return host;
}
