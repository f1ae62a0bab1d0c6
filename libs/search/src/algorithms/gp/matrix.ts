/**
 * Lower triangular matrices of doubles in rows of `width`, which is at least the number of rows. The inner loops
 * process four rows, or four right sides, at once, so that four sums advance side by side. Sums have a fixed order, so
 * the same matrix has the same factor on every machine, bit for bit.
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
    solveLower(matrix, width, i, matrix, row);
    let pivot = matrix[row + i] as number;
    for (let k = 0; k < i; k += 1) {
      pivot -= (matrix[row + k] as number) * (matrix[row + k] as number);
    }
    matrix[row + i] = Math.sqrt(Math.max(smallest, pivot));
  }
}

/** Solves L x = b, where b begins at index `at`, and overwrites b with x. */
export function solveLower(
  factor: Float64Array,
  width: number,
  size: number,
  b: Float64Array,
  at = 0,
): void {
  let i = 0;
  for (; i + 3 < size; i += 4) fourOfSolution(factor, width, b, at, i);
  for (; i < size; i += 1) {
    const row = i * width;
    let sum = b[at + i] as number;
    for (let k = 0; k < i; k += 1) sum -= (b[at + k] as number) * (factor[row + k] as number);
    b[at + i] = sum / (factor[row + i] as number);
  }
}

/** Computes the elements i to i + 3 of the solution that begins at `at`. */
function fourOfSolution(
  factor: Float64Array,
  width: number,
  b: Float64Array,
  at: number,
  i: number,
): void {
  const r0 = i * width;
  const r1 = r0 + width;
  const r2 = r1 + width;
  const r3 = r2 + width;
  let s0 = b[at + i] as number;
  let s1 = b[at + i + 1] as number;
  let s2 = b[at + i + 2] as number;
  let s3 = b[at + i + 3] as number;
  for (let k = 0; k < i; k += 1) {
    const x = b[at + k] as number;
    s0 -= x * (factor[r0 + k] as number);
    s1 -= x * (factor[r1 + k] as number);
    s2 -= x * (factor[r2 + k] as number);
    s3 -= x * (factor[r3 + k] as number);
  }
  s0 /= factor[r0 + i] as number;
  s1 = (s1 - s0 * (factor[r1 + i] as number)) / (factor[r1 + i + 1] as number);
  s2 -= s0 * (factor[r2 + i] as number) + s1 * (factor[r2 + i + 1] as number);
  s2 /= factor[r2 + i + 2] as number;
  s3 -= s0 * (factor[r3 + i] as number) + s1 * (factor[r3 + i + 1] as number);
  s3 = (s3 - s2 * (factor[r3 + i + 2] as number)) / (factor[r3 + i + 3] as number);
  b[at + i] = s0;
  b[at + i + 1] = s1;
  b[at + i + 2] = s2;
  b[at + i + 3] = s3;
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
  let i = size - 1;
  for (; i % 4 !== 3 && i >= 0; i -= 1) {
    const row = i * width;
    const x = (b[i] as number) / (factor[row + i] as number);
    b[i] = x;
    for (let k = 0; k < i; k += 1) b[k] = (b[k] as number) - (factor[row + k] as number) * x;
  }
  for (i -= 3; i >= 0; i -= 4) fourOfUpper(factor, width, b, i);
}

/** Computes the elements i to i + 3 of the solution, and subtracts their share from the elements before. */
function fourOfUpper(factor: Float64Array, width: number, b: Float64Array, i: number): void {
  const r0 = i * width;
  const r1 = r0 + width;
  const r2 = r1 + width;
  const r3 = r2 + width;
  const x3 = (b[i + 3] as number) / (factor[r3 + i + 3] as number);
  const rest = (b[i + 2] as number) - (factor[r3 + i + 2] as number) * x3;
  const x2 = rest / (factor[r2 + i + 2] as number);
  let x1 = (b[i + 1] as number) - (factor[r3 + i + 1] as number) * x3;
  x1 = (x1 - (factor[r2 + i + 1] as number) * x2) / (factor[r1 + i + 1] as number);
  let x0 = (b[i] as number) - (factor[r3 + i] as number) * x3 - (factor[r2 + i] as number) * x2;
  x0 = (x0 - (factor[r1 + i] as number) * x1) / (factor[r0 + i] as number);
  for (let k = 0; k < i; k += 1) {
    const late = (factor[r3 + k] as number) * x3 + (factor[r2 + k] as number) * x2;
    const early = (factor[r1 + k] as number) * x1 + (factor[r0 + k] as number) * x0;
    b[k] = (b[k] as number) - (late + early);
  }
  b[i] = x0;
  b[i + 1] = x1;
  b[i + 2] = x2;
  b[i + 3] = x3;
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

/** Writes row i of the inverse of L Lᵀ, up to its diagonal; its elements are products of two columns of L⁻¹. */
export function inverseRow(
  columns: Float64Array,
  size: number,
  i: number,
  row: Float64Array,
): void {
  const own = i * size;
  let j = 0;
  for (; j + 3 <= i; j += 4) {
    const c0 = j * size;
    const c1 = c0 + size;
    const c2 = c1 + size;
    const c3 = c2 + size;
    let s0 = 0;
    let s1 = 0;
    let s2 = 0;
    let s3 = 0;
    for (let k = i; k < size; k += 1) {
      const x = columns[own + k] as number;
      s0 += x * (columns[c0 + k] as number);
      s1 += x * (columns[c1 + k] as number);
      s2 += x * (columns[c2 + k] as number);
      s3 += x * (columns[c3 + k] as number);
    }
    row[j] = s0;
    row[j + 1] = s1;
    row[j + 2] = s2;
    row[j + 3] = s3;
  }
  for (; j <= i; j += 1) {
    const other = j * size;
    let sum = 0;
    for (let k = i; k < size; k += 1) {
      sum += (columns[own + k] as number) * (columns[other + k] as number);
    }
    row[j] = sum;
  }
}
