/** A programming error: an invariant is violated. */
export class Bug extends Error {
  override readonly name = "Bug";
}

export function assert(condition: unknown, claim: string): asserts condition {
  if (!condition) throw new Bug(`does not hold: ${claim}`);
}

/** Fails in the default branch of a switch over a closed set. */
export function assertNever(value: never, what: string): never {
  throw new Bug(`${what} has no case for ${JSON.stringify(value)}`);
}
