/** The place of a tooltip: beside the pointer and inside the window. Lengths are CSS pixels. */

type Point = { readonly x: number; readonly y: number };
type Size = { readonly width: number; readonly height: number };

/** The distance from the pointer, and from the window's edges. */
const gap = 16;
const edge = 8;

/**
 * Returns the top left corner of a box of a size: to the right of the pointer, else to its left. Where neither has
 * space, it is below or above, so that it does not cover the pointer.
 */
export function placeBeside(pointer: Point, { width, height }: Size, window: Size): Point {
  const fitsRight = pointer.x + gap + width <= window.width - edge;
  const fitsLeft = pointer.x - gap - width >= edge;
  const x = fitsRight ? pointer.x + gap : pointer.x - gap - width;
  const top = within(pointer.y - height / 2, window.height - height);
  if (fitsRight || fitsLeft) return { x, y: top };
  const fitsBelow = pointer.y + gap + height <= window.height - edge;
  return {
    x: within(pointer.x - width / 2, window.width - width),
    y: within(fitsBelow ? pointer.y + gap : pointer.y - gap - height, window.height - height),
  };
}

/** A box that is larger than the window begins at its edge. */
const within = (place: number, most: number): number =>
  Math.max(edge, Math.min(place, most - edge));
