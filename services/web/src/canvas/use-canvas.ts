import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";

type Canvas = {
  /** The element whose width the drawing follows. */
  readonly host: RefObject<HTMLDivElement | null>;
  readonly canvas: RefObject<HTMLCanvasElement | null>;
};

/**
 * A canvas that is sharp on every screen. `draw` gets a context whose unit is a CSS pixel, after each render. `onWidth`
 * gets the width of the host, at first and on each change.
 */
export function useCanvas(
  { width, height }: { readonly width: number; readonly height: number },
  onWidth: (width: number) => void,
  draw: (ctx: CanvasRenderingContext2D) => void,
): Canvas {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    onWidth(element.clientWidth);
    const observer = new ResizeObserver(() => onWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [onWidth]);
  useEffect(() => {
    const element = canvas.current;
    const ctx = element?.getContext("2d");
    if (element === null || ctx == null) return;
    const ratio = devicePixelRatio;
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (element.width !== across) element.width = across;
    if (element.height !== down) element.height = down;
    element.style.width = `${width}px`;
    element.style.height = `${height}px`;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw(ctx);
  });
  return { host, canvas };
}
