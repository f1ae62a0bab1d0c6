/**
 * The Sobol sequence in Gray-code order (I. A. Antonov and V. M. Saleev, 1979). It is scrambled by random linear
 * matrices and a digital shift (J. Matoušek, "On the L2-discrepancy for anchored boxes", J. Complexity 14, 1998), which
 * keep every balance property and produce a different sequence for each seed.
 *
 * Point n is a function of (seed, n), computed in 32-bit integers without floating point. Point 0 is included: without
 * it no first 2^k points are balanced (A. B. Owen, "On dropping the first Sobol' point", 2020).
 */
import { drawBlock } from "@trainyard/kernel";
import { joeKuo } from "./joe-kuo.ts";

const BITS = 32;

export const sobolDimensionsMax = joeKuo.length + 1;

/** One dimension of the sequence: a column of the generator matrix for each bit of the index, and the digital shift. */
export type SobolDimension = { readonly columns: readonly number[]; readonly shift: number };

/** Returns an unscrambled dimension of the sequence, numbered from 0 and below `sobolDimensionsMax`. */
export function sobolDimension(dimension: number): SobolDimension {
  const row = joeKuo[dimension - 1];
  const columns: number[] = [];
  if (row === undefined) {
    for (let bit = 0; bit < BITS; bit += 1) columns.push((1 << (BITS - 1 - bit)) >>> 0);
    return { columns, shift: 0 };
  }
  const [polynomial, ...initial] = row;
  const degree = initial.length;
  for (const [bit, m] of initial.entries()) columns.push((m << (BITS - 1 - bit)) >>> 0);
  for (let bit = degree; bit < BITS; bit += 1) {
    const oldest = columns[bit - degree] ?? 0;
    let column = oldest ^ (oldest >>> degree);
    for (let k = 1; k < degree; k += 1) {
      if ((polynomial >>> (degree - k)) & 1) column ^= columns[bit - k] ?? 0;
    }
    columns.push(column >>> 0);
  }
  return { columns, shift: 0 };
}

/** Scrambles the dimension with the draws of a stream. */
export function scrambled(
  { columns }: SobolDimension,
  seed: number,
  stream: string,
): SobolDimension {
  const rows: number[] = [];
  for (let bit = 0; bit < BITS; bit += 1) {
    // Row `bit` of a lower triangular matrix: a one on the diagonal, random bits at the more significant digits.
    const diagonal = (1 << (BITS - 1 - bit)) >>> 0;
    const above = ~(diagonal | (diagonal - 1)) >>> 0;
    const [chance] = drawBlock(seed, stream, bit);
    rows.push((diagonal | (chance & above)) >>> 0);
  }
  const [shift] = drawBlock(seed, stream, BITS);
  return { columns: columns.map((column) => product(rows, column)), shift };
}

/** Multiplies a bit matrix by a column of bits, over the field of two elements. */
function product(rows: readonly number[], column: number): number {
  let result = 0;
  for (const row of rows) result = (result << 1) | parity(row & column);
  return result >>> 0;
}

function parity(word: number): number {
  let folded = word ^ (word >>> 16);
  folded ^= folded >>> 8;
  folded ^= folded >>> 4;
  folded ^= folded >>> 2;
  return (folded ^ (folded >>> 1)) & 1;
}

/** Returns the coordinate of point `index`, 0 ≤ index < 2^32, as an integer multiple of 2^-32. */
export function sobolCoordinate({ columns, shift }: SobolDimension, index: number): number {
  let result = shift;
  let gray = (index ^ (index >>> 1)) >>> 0;
  for (let bit = 0; gray !== 0; bit += 1) {
    if (gray & 1) result ^= columns[bit] ?? 0;
    gray >>>= 1;
  }
  return result >>> 0;
}
