/**
 * Encodes a list of doubles in the shortest of four forms. Each form is exact, also for -0, the infinities and
 * not-a-number:
 *
 *   integers   the second differences: evenly spaced numbers take the room of one count
 *   constant   one double for all
 *   float32    four bytes each, where every number is a float32, as frameworks compute
 *   float64    eight bytes each
 *
 * The differences of differences are from Facebook's Gorilla (Pelkonen et al., VLDB 2015, §4.1). Gorilla's XOR of
 * values saves little on noisy losses and needs a bit-wise decoder.
 */
import type { ByteReader, ByteWriter } from "./bytes.ts";

const form = { integers: 0, float32: 1, float64: 2, constant: 3 } as const;

/** Beyond this limit the difference of two differences has no exact double. */
const integerMax = 2 ** 49;

export function writeNumbers(to: ByteWriter, numbers: ArrayLike<number>): void {
  to.varint(numbers.length);
  const shortest = formOf(numbers);
  if (shortest === form.integers) {
    writeIntegers(to, numbers);
    return;
  }
  to.byte(shortest);
  if (shortest === form.constant) to.float64(at(numbers, 0));
  else if (shortest === form.float32) to.float32s(numbers);
  else to.float64s(numbers);
}

/** Returns the shortest form that is exact. */
function formOf(numbers: ArrayLike<number>): (typeof form)[keyof typeof form] {
  const first = at(numbers, 0);
  let [integers, same, single] = [true, true, true];
  for (let i = 0; i < numbers.length && (integers || same || single); i += 1) {
    const value = at(numbers, i);
    integers &&= isInteger(value);
    same &&= Object.is(value, first);
    single &&= Math.fround(value) === value || Number.isNaN(value);
  }
  if (integers) return form.integers;
  if (same) return form.constant;
  return single ? form.float32 : form.float64;
}

export function readNumbers(from: ByteReader): Float64Array {
  const numbers = new Float64Array(from.varint());
  switch (from.byte()) {
    case form.integers:
      readIntegers(from, numbers);
      break;
    case form.constant:
      numbers.fill(from.float64());
      break;
    case form.float32:
      from.float32s(numbers);
      break;
    case form.float64:
      from.float64s(numbers);
      break;
    default:
      throw unknownForm();
  }
  return numbers;
}

/** Skips the bytes that `readNumbers` would read. */
export function skipNumbers(from: ByteReader): void {
  const count = from.varint();
  const shape = from.byte();
  if (shape === form.constant) from.skip(8);
  else if (shape === form.float32) from.skip(4 * count);
  else if (shape === form.float64) from.skip(8 * count);
  else if (shape === form.integers) {
    for (let i = 0; i < count; i += from.varint() === 0 ? from.varint() : 1);
  } else throw unknownForm();
}

const unknownForm = (): RangeError =>
  new RangeError("numbers have an unknown format: a newer version of Trainyard wrote them");

function writeIntegers(to: ByteWriter, numbers: ArrayLike<number>): void {
  to.byte(form.integers);
  let [previous, difference, even] = [0, 0, 0];
  const endRun = (): void => {
    if (even === 0) return;
    to.varint(0);
    to.varint(even);
    even = 0;
  };
  for (let i = 0; i < numbers.length; i += 1) {
    const value = at(numbers, i);
    const change = value - previous - difference;
    difference = value - previous;
    previous = value;
    if (change === 0) {
      even += 1;
      continue;
    }
    endRun();
    to.signed(change);
  }
  endRun();
}

function readIntegers(from: ByteReader, numbers: Float64Array): void {
  let [previous, difference] = [0, 0];
  for (let i = 0; i < numbers.length; ) {
    const change = from.signed();
    let repeats = change === 0 ? from.varint() : 1;
    difference += change;
    for (; repeats > 0 && i < numbers.length; repeats -= 1, i += 1) {
      previous += difference;
      numbers[i] = previous;
    }
  }
}

/** Callers pass an index below the length. */
const at = (numbers: ArrayLike<number>, index: number): number => numbers[index] ?? Number.NaN;

const isInteger = (value: number): boolean =>
  Number.isInteger(value) && Math.abs(value) <= integerMax && !Object.is(value, -0);
