import { Readable } from "node:stream";

/** Makes a text the standard input of this process until it is disposed. */
export function inputOf(text: string): Disposable {
  const own = Object.getOwnPropertyDescriptor(process, "stdin");
  Object.defineProperty(process, "stdin", { value: Readable.from([text]), configurable: true });
  return {
    [Symbol.dispose]: () => {
      if (own !== undefined) Object.defineProperty(process, "stdin", own);
    },
  };
}
