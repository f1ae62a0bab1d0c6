/**
 * The Sobol sequence in Gray-code order (I. A. Antonov and V. M. Saleev, 1979), scrambled by random linear matrices and
 * a digital shift (J. Matoušek, "On the L2-discrepancy for anchored boxes", J. Complexity 14, 1998), which keep every
 * balance property of the sequence and make it another one for each seed. Point n is a function of (seed, n): whole
 * numbers of 32 bits, no floating point. Point 0 counts: without it no power of two of first points is balanced (A. B.
 * Owen, "On dropping the first Sobol' point", 2020).
 */
import { drawBlock } from "@trainyard/kernel";
import { joeKuo } from "./joe-kuo.ts";

const BITS = 32;

export const sobolDimensionsMax = joeKuo.length + 1;

/** The parts of one dimension: a column of the generator matrix for each bit of the index, and the digital shift. */
export type SobolDimension = { readonly columns: readonly number[]; readonly shift: number };

/** Dimension number `dimension`, from 0 and below `sobolDimensionsMax`, unscrambled. */
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

/** The dimension scrambled with the draws of a stream. */
export function scrambled(
  { columns }: SobolDimension,
  seed: number,
  stream: string,
): SobolDimension {
  const rows: number[] = [];
  for (let bit = 0; bit < BITS; bit += 1) {
    // Row `bit` of a lower triangular matrix: ones on the diagonal, chance at the more significant digits.
    const diagonal = (1 << (BITS - 1 - bit)) >>> 0;
    const above = ~(diagonal | (diagonal - 1)) >>> 0;
    const [chance] = drawBlock(seed, stream, bit);
    rows.push((diagonal | (chance & above)) >>> 0);
  }
  const [shift] = drawBlock(seed, stream, BITS);
  return { columns: columns.map((column) => product(rows, column)), shift };
}

/** A matrix over the field of two elements times a column of digits. */
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

/** The coordinate of point `index`, 0 ≤ index < 2^32, as a whole number of 2^-32. */
export function sobolCoordinate({ columns, shift }: SobolDimension, index: number): number {
  let result = shift;
  let gray = (index ^ (index >>> 1)) >>> 0;
  for (let bit = 0; gray !== 0; bit += 1) {
    if (gray & 1) result ^= columns[bit] ?? 0;
    gray >>>= 1;
  }
  return result >>> 0;
}
