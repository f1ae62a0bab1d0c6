/**
 * Draws the crosshair and the tooltip of a chart into an element, without React: a chart that is moved under a resting
 * pointer has other values at each step, and a reconciliation of their elements takes longer than drawing the lines.
 * Elements are reused, and only what differs is written. No size is read while values are written, because that would
 * lay out the page within the script.
 */
import { placeBeside } from "./place-beside.ts";
import type { Pointed, PointedRow } from "./pointed.ts";

/** The classes of the elements. */
export type LayerStyles = {
  readonly crosshair: string;
  readonly tooltip: string;
  readonly head: string;
  readonly name: string;
  readonly swatch: string;
};

type Row = {
  readonly element: HTMLElement;
  readonly stroke: SVGElement;
  readonly label: HTMLElement;
  readonly value: HTMLElement;
  readonly note: HTMLElement;
  shown: PointedRow | null;
};

export class PointerLayer {
  readonly #styles: LayerStyles;
  readonly #crosshair = document.createElement("div");
  readonly #hair = placed("i");
  readonly #dots: (Placed & { colour: string })[] = [];
  readonly #tooltip = placed("div");
  readonly #head = document.createElement("div");
  readonly #more = document.createElement("div");
  readonly #rows: Row[] = [];
  readonly #observer: ResizeObserver;
  #height = 0;
  #size = { width: 0, height: 0 };
  #at: Pointed["tooltip"] = null;

  constructor(host: HTMLElement, styles: LayerStyles) {
    this.#styles = styles;
    this.#crosshair.className = styles.crosshair;
    this.#crosshair.append(this.#hair.element);
    this.#tooltip.element.className = styles.tooltip;
    this.#tooltip.element.dataset["tooltip"] = "";
    this.#head.className = styles.head;
    this.#more.className = styles.head;
    this.#tooltip.element.append(this.#head, this.#more);
    host.append(this.#crosshair, this.#tooltip.element);
    this.#observer = new ResizeObserver(([entry]) => {
      const [box] = entry?.borderBoxSize ?? [];
      if (box === undefined) return;
      this.#size = { width: box.inlineSize, height: box.blockSize };
      this.#place();
    });
    this.#observer.observe(this.#tooltip.element);
    this.show(null);
  }

  /** Shows the content; null for none. */
  show(pointed: Pointed | null): void {
    hide(this.#crosshair, pointed === null);
    hide(this.#tooltip.element, (pointed?.tooltip ?? null) === null);
    if (pointed === null) return;
    this.#showCrosshair(pointed);
    const { tooltip } = pointed;
    if (tooltip === null) return;
    write(this.#head, tooltip.head);
    write(this.#more, tooltip.more);
    hide(this.#more, tooltip.more === "");
    while (this.#rows.length < tooltip.rows.length) this.#addRow();
    for (const [index, row] of this.#rows.entries()) showRow(row, tooltip.rows[index] ?? null);
    this.#at = tooltip;
    this.#place();
  }

  destroy(): void {
    this.#observer.disconnect();
    this.#crosshair.remove();
    this.#tooltip.element.remove();
  }

  #showCrosshair({ hair, dots }: Pointed): void {
    move(this.#hair, hair.left, hair.top);
    if (this.#height !== hair.height) this.#hair.element.style.height = `${hair.height}px`;
    this.#height = hair.height;
    while (this.#dots.length < dots.length) {
      const dot = { ...placed("b"), colour: "" };
      this.#dots.push(dot);
      this.#crosshair.append(dot.element);
    }
    for (const [index, own] of this.#dots.entries()) {
      const dot = dots[index];
      hide(own.element, dot === undefined);
      if (dot === undefined) continue;
      move(own, dot.left, dot.top);
      if (own.colour !== dot.colour) own.element.style.background = dot.colour;
      own.colour = dot.colour;
    }
  }

  #addRow(): void {
    const stroke = svg("line", { x1: "0", x2: "16", y1: "4", y2: "4" });
    const swatch = svg("svg", { viewBox: "0 0 16 8", class: this.#styles.swatch });
    swatch.append(stroke);
    const [element, label, value, note] = [
      document.createElement("div"),
      document.createElement("span"),
      document.createElement("b"),
      document.createElement("span"),
    ];
    label.className = this.#styles.name;
    element.append(swatch, label, value, note);
    this.#more.before(element);
    this.#rows.push({ element, stroke, label, value, note, shown: null });
  }

  #place(): void {
    if (this.#at === null) return;
    const { x, y } = placeBeside(this.#at, this.#size, this.#at.window);
    move(this.#tooltip, x, y);
  }
}

function showRow(row: Row, next: PointedRow | null): void {
  const { shown } = row;
  hide(row.element, next === null);
  row.shown = next;
  if (next === null) return;
  if (shown?.value !== next.value) write(row.value, next.value);
  if (shown?.note !== next.note) write(row.note, next.note);
  if (shown?.label !== next.label) write(row.label, next.label);
  if (shown?.colour !== next.colour) row.stroke.style.stroke = next.colour;
  if (shown?.dash !== next.dash) row.stroke.setAttribute("stroke-dasharray", next.dash);
  if (shown?.isHighlighted !== next.isHighlighted) {
    row.element.dataset["highlighted"] = String(next.isHighlighted);
  }
}

function hide(element: HTMLElement, isHidden: boolean): void {
  if (element.hidden !== isHidden) element.hidden = isHidden;
}

/** An element and its place, which is remembered, because the browser would have to write the style as a text. */
type Placed = { readonly element: HTMLElement; place: string };

const placed = (name: string): Placed => ({ element: document.createElement(name), place: "" });

function move(own: Placed, x: number, y: number): void {
  const place = `translate(${Math.round(x * 10) / 10}px,${Math.round(y * 10) / 10}px)`;
  if (own.place !== place) own.element.style.transform = place;
  own.place = place;
}

/** Writes the text of an element that has one text, if it differs. */
export function write(element: Element, text: string): void {
  const { firstChild } = element;
  if (firstChild === null) element.append(text);
  else if (firstChild.nodeValue !== text) firstChild.nodeValue = text;
}

function svg(name: string, attributes: Readonly<Record<string, string>>): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}
