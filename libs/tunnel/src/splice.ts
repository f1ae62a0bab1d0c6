import { type Duplex, finished } from "node:stream";

/**
 * Joins two streams until both directions have ended, or one of the streams has failed or closed early: then the other
 * is destroyed with the error. The end of one direction is passed on, and the other direction continues. Never rejects.
 */
export async function splice(one: Duplex, other: Duplex): Promise<void> {
  const done = Promise.all([ended(one, other), ended(other, one)]);
  one.pipe(other);
  other.pipe(one);
  await done;
}

function ended(one: Duplex, other: Duplex): Promise<void> {
  // Without this listener, an error after the end would be an uncaught one.
  one.on("error", () => {});
  return new Promise((resolve) => {
    finished(one, (error) => {
      if (error !== undefined && error !== null) other.destroy(error);
      resolve();
    });
  });
}
