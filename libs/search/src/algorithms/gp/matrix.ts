/** Lower triangular matrices of doubles in rows of `width`, which is at least the number of rows. */

/**
 * The factor of a symmetric positive definite matrix, in place of its lower half (A. L. Cholesky). Rows before `from` are
 * factors already. A pivot that rounding made too small is taken as `smallest`.
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
    for (let j = 0; j < i; j += 1) {
      const other = j * width;
      let sum = matrix[row + j] as number;
      for (let k = 0; k < j; k += 1) {
        sum -= (matrix[row + k] as number) * (matrix[other + k] as number);
      }
      matrix[row + j] = sum / (matrix[other + j] as number);
    }
    let pivot = matrix[row + i] as number;
    for (let k = 0; k < i; k += 1)
      pivot -= (matrix[row + k] as number) * (matrix[row + k] as number);
    matrix[row + i] = Math.sqrt(Math.max(smallest, pivot));
  }
}

/** x of L x = b, in place of b. */
export function solveLower(
  factor: Float64Array,
  width: number,
  size: number,
  b: Float64Array,
): void {
  for (let i = 0; i < size; i += 1) {
    let sum = b[i] as number;
    const row = i * width;
    for (let k = 0; k < i; k += 1) sum -= (factor[row + k] as number) * (b[k] as number);
    b[i] = sum / (factor[row + i] as number);
  }
}

/** x of Lᵀ x = b, in place of b. */
export function solveUpper(
  factor: Float64Array,
  width: number,
  size: number,
  b: Float64Array,
): void {
  for (let i = size - 1; i >= 0; i -= 1) {
    const x = (b[i] as number) / (factor[i * width + i] as number);
    b[i] = x;
    for (let k = 0; k < i; k += 1) b[k] = (b[k] as number) - (factor[i * width + k] as number) * x;
  }
}

/** The inverse of L, lower triangular as well, in rows of `size`. */
export function inverseLower(factor: Float64Array, width: number, size: number): Float64Array {
  const inverse = new Float64Array(size * size);
  for (let j = 0; j < size; j += 1) {
    inverse[j * size + j] = 1 / (factor[j * width + j] as number);
    for (let i = j + 1; i < size; i += 1) {
      let sum = 0;
      for (let k = j; k < i; k += 1) {
        sum -= (factor[i * width + k] as number) * (inverse[k * size + j] as number);
      }
      inverse[i * size + j] = sum / (factor[i * width + i] as number);
    }
  }
  return inverse;
}
