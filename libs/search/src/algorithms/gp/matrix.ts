/**
 * Lower triangular matrices of doubles in rows of `width`, which is at least the number of rows. The inner loops
 * process four rows, or four right sides, at once, so that each fetched number is used four times. Sums have a fixed
 * order, so the same matrix has the same factor on every machine, bit for bit.
 */

/**
 * Replaces the lower half of a symmetric positive definite matrix by its factor (A. L. Cholesky). Rows before `from`
 * must be factors already. A pivot that rounding made too small becomes `smallest`.
 */
export function factorise(
  matrix: Float64Array,
  width: number,
  from: number,
  to: number,
  smallest: number,
): void {
  for (let i = from; i < to; i += 1) {
    const row = i * width;
    let j = 0;
    for (; j + 3 < i; j += 4) fourOfRow(matrix, width, row, j);
    for (; j < i; j += 1) {
      const other = j * width;
      let sum = matrix[row + j] as number;
      for (let k = 0; k < j; k += 1) {
        sum -= (matrix[row + k] as number) * (matrix[other + k] as number);
      }
      matrix[row + j] = sum / (matrix[other + j] as number);
    }
    let pivot = matrix[row + i] as number;
    for (let k = 0; k < i; k += 1) {
      pivot -= (matrix[row + k] as number) * (matrix[row + k] as number);
    }
    matrix[row + i] = Math.sqrt(Math.max(smallest, pivot));
  }
}

/** Computes the elements j to j + 3 of the factor's row that begins at `row`. */
function fourOfRow(matrix: Float64Array, width: number, row: number, j: number): void {
  const a = j * width;
  const b = a + width;
  const c = b + width;
  const d = c + width;
  let s0 = matrix[row + j] as number;
  let s1 = matrix[row + j + 1] as number;
  let s2 = matrix[row + j + 2] as number;
  let s3 = matrix[row + j + 3] as number;
  for (let k = 0; k < j; k += 1) {
    const x = matrix[row + k] as number;
    s0 -= x * (matrix[a + k] as number);
    s1 -= x * (matrix[b + k] as number);
    s2 -= x * (matrix[c + k] as number);
    s3 -= x * (matrix[d + k] as number);
  }
  s0 /= matrix[a + j] as number;
  s1 = (s1 - s0 * (matrix[b + j] as number)) / (matrix[b + j + 1] as number);
  s2 -= s0 * (matrix[c + j] as number) + s1 * (matrix[c + j + 1] as number);
  s2 /= matrix[c + j + 2] as number;
  s3 -= s0 * (matrix[d + j] as number) + s1 * (matrix[d + j + 1] as number);
  s3 = (s3 - s2 * (matrix[d + j + 2] as number)) / (matrix[d + j + 3] as number);
  matrix[row + j] = s0;
  matrix[row + j + 1] = s1;
  matrix[row + j + 2] = s2;
  matrix[row + j + 3] = s3;
}

/** Solves L x = b and overwrites b with x. */
export function solveLower(
  factor: Float64Array,
  width: number,
  size: number,
  b: Float64Array,
): void {
  for (let i = 0; i < size; i += 1) {
    const row = i * width;
    let even = b[i] as number;
    let odd = 0;
    let k = 0;
    for (; k + 1 < i; k += 2) {
      even -= (factor[row + k] as number) * (b[k] as number);
      odd -= (factor[row + k + 1] as number) * (b[k + 1] as number);
    }
    if (k < i) even -= (factor[row + k] as number) * (b[k] as number);
    b[i] = (even + odd) / (factor[row + i] as number);
  }
}

/** Like `solveLower` for four right sides that are 0 above row `from`; row i of the four is at index 4 i. */
export function solveLowerFour(
  factor: Float64Array,
  width: number,
  from: number,
  size: number,
  b: Float64Array,
): void {
  for (let i = from; i < size; i += 1) {
    const row = i * width;
    const at = 4 * i;
    let s0 = b[at] as number;
    let s1 = b[at + 1] as number;
    let s2 = b[at + 2] as number;
    let s3 = b[at + 3] as number;
    for (let k = from, four = 4 * from; k < i; k += 1, four += 4) {
      const x = factor[row + k] as number;
      s0 -= x * (b[four] as number);
      s1 -= x * (b[four + 1] as number);
      s2 -= x * (b[four + 2] as number);
      s3 -= x * (b[four + 3] as number);
    }
    const pivot = factor[row + i] as number;
    b[at] = s0 / pivot;
    b[at + 1] = s1 / pivot;
    b[at + 2] = s2 / pivot;
    b[at + 3] = s3 / pivot;
  }
}

/** Solves Lᵀ x = b and overwrites b with x. */
export function solveUpper(
  factor: Float64Array,
  width: number,
  size: number,
  b: Float64Array,
): void {
  for (let i = size - 1; i >= 0; i -= 1) {
    const row = i * width;
    const x = (b[i] as number) / (factor[row + i] as number);
    b[i] = x;
    for (let k = 0; k < i; k += 1) b[k] = (b[k] as number) - (factor[row + k] as number) * x;
  }
}

/** Returns the columns of L⁻¹ as rows of `size`; column j is 0 before index j. */
export function inverseColumns(factor: Float64Array, width: number, size: number): Float64Array {
  const columns = new Float64Array(size * size);
  const four = new Float64Array(4 * size);
  for (let j = 0; j < size; j += 4) {
    four.fill(0, 4 * j);
    const count = Math.min(4, size - j);
    for (let c = 0; c < count; c += 1) four[4 * (j + c) + c] = 1;
    solveLowerFour(factor, width, j, size, four);
    for (let c = 0; c < count; c += 1) {
      const column = (j + c) * size;
      for (let i = j + c; i < size; i += 1) columns[column + i] = four[4 * i + c] as number;
    }
  }
  return columns;
}

/** Returns the product of two columns of L⁻¹, with i ≥ j: an element of the inverse of L Lᵀ. */
export function inverseElement(columns: Float64Array, size: number, i: number, j: number): number {
  const a = i * size;
  const b = j * size;
  let s0 = 0;
  let s1 = 0;
  let k = i;
  for (; k + 1 < size; k += 2) {
    s0 += (columns[a + k] as number) * (columns[b + k] as number);
    s1 += (columns[a + k + 1] as number) * (columns[b + k + 1] as number);
  }
  if (k < size) s0 += (columns[a + k] as number) * (columns[b + k] as number);
  return s0 + s1;
}
