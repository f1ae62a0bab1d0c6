/**
 * The width of each trial's kernel on each continuous axis: the larger of the gaps to its neighbours.
 *
 * Few trials come and go from one decision to the next, so few gaps change. The trials are kept sorted on each axis,
 * and only changed widths are recomputed. The kept state never changes a result: a trial is recognised by its place,
 * and orders, widths and masses depend only on the places.
 */
import { SQRT_2_PI } from "../../numeric/normal.ts";
import { massInside } from "./kernels.ts";

type Place = readonly number[];

export class Gaps {
  /** The indexes of the axes in a place. */
  readonly #axes: readonly number[];
  readonly #slots = new Map<number, number>();
  /** The place of each slot. */
  readonly #places: Place[] = [];
  readonly #trials: number[] = [];
  readonly #seen: number[] = [];
  readonly #free: number[] = [];
  /** The slots in the order of each axis; of equal places the older trial is first. */
  #orders: Int32Array<ArrayBuffer>[];
  #size = 0;
  #turn = 0;
  /** The standard deviations, by slot and axis. */
  #sigmas = new Float64Array(0);
  /** The heights of the normals, each divided by its probability inside the box, by slot and axis. */
  #heights = new Float64Array(0);

  constructor(axes: readonly number[]) {
    this.#axes = axes;
    this.#orders = axes.map(() => new Int32Array(0));
  }

  /** Holds exactly these trials and returns their slots. */
  hold(trials: readonly number[], places: readonly Place[]): Int32Array {
    this.#turn += 1;
    this.#grow(trials.length);
    const held = new Int32Array(trials.length);
    const missing: number[] = [];
    for (let i = 0; i < trials.length; i += 1) {
      const slot = this.#slots.get(trials[i] as number);
      if (slot !== undefined && this.#places[slot] === places[i]) {
        this.#seen[slot] = this.#turn;
        held[i] = slot;
      } else missing.push(i);
    }
    if (this.#slots.size > trials.length - missing.length) this.#dropUnseen();
    for (const i of missing) held[i] = this.#add(trials[i] as number, places[i] as Place);
    return held;
  }

  #grow(count: number): void {
    // The arrays are doubled in advance, since dropped places free their slots only after the kept ones were found.
    const room = 2 * count + 2;
    if (this.#sigmas.length >= room * this.#axes.length) return;
    const grown = (from: Float64Array): Float64Array<ArrayBuffer> => {
      const to = new Float64Array(2 * room * this.#axes.length);
      to.set(from);
      return to;
    };
    this.#sigmas = grown(this.#sigmas);
    this.#heights = grown(this.#heights);
    this.#orders = this.#orders.map((from) => {
      const to = new Int32Array(2 * room);
      to.set(from);
      return to;
    });
  }

  #dropUnseen(): void {
    for (const [trial, slot] of this.#slots) {
      if (this.#seen[slot] === this.#turn) continue;
      for (const [j, order] of this.#orders.entries()) {
        const at = this.#position(j, slot);
        order.copyWithin(at, at + 1, this.#size);
      }
      this.#size -= 1;
      this.#slots.delete(trial);
      this.#free.push(slot);
    }
  }

  #add(trial: number, place: Place): number {
    const slot = this.#free.pop() ?? this.#places.length;
    this.#slots.set(trial, slot);
    this.#places[slot] = place;
    this.#trials[slot] = trial;
    this.#seen[slot] = this.#turn;
    for (const [j, order] of this.#orders.entries()) {
      const at = this.#position(j, slot);
      order.copyWithin(at + 1, at, this.#size);
      order[at] = slot;
      this.#sigmas[slot * this.#axes.length + j] = 0;
    }
    this.#size += 1;
    return slot;
  }

  /** Returns the index of a slot, or of its insertion, in the order of axis j. */
  #position(j: number, slot: number): number {
    const order = this.#orders[j] as Int32Array;
    const axis = this.#axes[j] as number;
    const value = this.#places[slot]?.[axis] as number;
    const trial = this.#trials[slot] as number;
    let low = 0;
    let high = this.#size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = order[middle] as number;
      const otherValue = this.#places[other]?.[axis] as number;
      const before =
        otherValue < value || (otherValue === value && (this.#trials[other] as number) < trial);
      if (before) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Returns the widths and heights of the held trials by slot and axis. A width is between `smallest` and 1; for a
   * single trial it is the distance to the farther end.
   */
  widths(smallest: number): { readonly sigmas: Float64Array; readonly heights: Float64Array } {
    const size = this.#size;
    for (const [j, order] of this.#orders.entries()) {
      const axis = this.#axes[j] as number;
      let left = 0;
      let value = size === 0 ? 0 : (this.#places[order[0] as number]?.[axis] as number);
      if (size === 1) left = Math.max(value, 1 - value);
      for (let at = 0; at < size; at += 1) {
        const next =
          at + 1 < size ? (this.#places[order[at + 1] as number]?.[axis] as number) : value;
        const right = next - value;
        const sigma = Math.min(1, Math.max(smallest, left, right));
        this.#setWidth((order[at] as number) * this.#axes.length + j, value, sigma);
        left = right;
        value = next;
      }
    }
    return { sigmas: this.#sigmas, heights: this.#heights };
  }

  #setWidth(at: number, mean: number, sigma: number): void {
    if (this.#sigmas[at] === sigma) return;
    this.#sigmas[at] = sigma;
    this.#heights[at] = 1 / (massInside(mean, sigma) * sigma * SQRT_2_PI);
  }
}
