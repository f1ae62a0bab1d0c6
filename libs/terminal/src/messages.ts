/**
 * The messages of the terminal protocol (docs/integrate/terminals.md), which a client writes to a task's holder and
 * reads from it.
 */
import { Fault } from "@trainyard/kernel";
import { encodeFrame, type Frame } from "./frames.ts";
import { inputBytesMax } from "./limits.ts";

export type Size = { readonly columns: number; readonly rows: number };

/** The first message on a connection: what the client wants. */
export type Hello =
  | (Size & {
      /** A terminal by its name: the one that is there, or else a new one. */
      readonly open: "terminal";
      readonly name: string;
      /** The program of a new terminal; a login shell if it is absent. */
      readonly command?: readonly string[];
      readonly environment?: Readonly<Record<string, string>>;
    })
  | (Partial<Size> & {
      /** A program, whose end ends the connection. */
      readonly open: "exec";
      readonly command: readonly string[];
      /** Whether the program has a terminal. Without one, its error output is apart. */
      readonly terminal?: boolean;
      readonly environment?: Readonly<Record<string, string>>;
      /** Below the task's folder if it is relative; the task's folder if it is absent. */
      readonly directory?: string;
    })
  /** A terminal, to answer with its screens. */
  | { readonly open: "follow"; readonly name: string }
  /** The names of the terminals, at each change. */
  | { readonly open: "watch" }
  /** How long ago terminals and programs were used, once. */
  | { readonly open: "use" };

/** How a program ended: a code, or the name of a signal, such as SIGTERM. */
export type Ended = { readonly code?: number; readonly signal?: string };

/** A terminal's size, and how much of its record precedes it: each byte of output counts one, and each size. */
export type Sized = Size & { readonly offset: number };

export type FromHolder =
  | ({ readonly type: "opened"; readonly name: string } & Size)
  | { readonly type: "output"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: "error_output"; readonly bytes: Uint8Array<ArrayBuffer> }
  | ({ readonly type: "size" } & Sized)
  | ({ readonly type: "ended" } & Ended)
  | { readonly type: "notice"; readonly text: string }
  | { readonly type: "refused"; readonly code: string; readonly detail: string }
  /** The bytes make the present screen in an emptied terminal. */
  | { readonly type: "screen"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: "terminals"; readonly names: readonly string[] }
  /** Null if they were never used. */
  | { readonly type: "use"; readonly idle_seconds: number | null };

export const frameTypes = {
  hello: 0,
  input: 1,
  size: 2,
  endOfInput: 3,
  signal: 4,
  followedScreen: 5,
  opened: 16,
  output: 17,
  errorOutput: 18,
  sized: 19,
  ended: 20,
  notice: 21,
  refused: 22,
  screen: 23,
  terminals: 24,
  use: 25,
} as const;

const utf8 = new TextEncoder();
const text = new TextDecoder();

const json = (type: number, value: object): Uint8Array<ArrayBuffer> =>
  encodeFrame(type, utf8.encode(JSON.stringify(value)));

/** The frames that a client writes. */
export const toHolder = {
  hello: (hello: Hello) => json(frameTypes.hello, hello),
  /** Returns a frame for each part of the bytes. */
  input(bytes: Uint8Array): readonly Uint8Array<ArrayBuffer>[] {
    const parts = Math.ceil(bytes.length / inputBytesMax);
    return Array.from({ length: parts }, (_, part) => {
      const start = part * inputBytesMax;
      return encodeFrame(frameTypes.input, bytes.subarray(start, start + inputBytesMax));
    });
  },
  size: ({ columns, rows }: Size) => json(frameTypes.size, { columns, rows }),
  endOfInput: () => encodeFrame(frameTypes.endOfInput, new Uint8Array()),
  /** `signal` is a name without SIG, such as INT. */
  signal: (signal: string) => json(frameTypes.signal, { signal }),
  /** Only a follower sends it: the screen of the terminal at an offset of its record. */
  screen(at: Sized, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    const head = utf8.encode(`${JSON.stringify(at)}\n`);
    const payload = new Uint8Array(head.length + bytes.length);
    payload.set(head);
    payload.set(bytes, head.length);
    return encodeFrame(frameTypes.followedScreen, payload);
  },
};

/**
 * Returns the message of a frame; null for a type that this version does not know, which a client passes over. Throws a
 * Fault for a payload that is no message.
 */
export function fromHolder({ type, payload }: Frame): FromHolder | null {
  switch (type) {
    case frameTypes.output:
      return { type: "output", bytes: payload };
    case frameTypes.errorOutput:
      return { type: "error_output", bytes: payload };
    case frameTypes.screen:
      return { type: "screen", bytes: payload };
    case frameTypes.notice:
      return { type: "notice", text: text.decode(payload) };
    case frameTypes.opened:
      return { type: "opened", ...parsed<Size & { readonly name: string }>(payload) };
    case frameTypes.sized:
      return { type: "size", ...parsed<Sized>(payload) };
    case frameTypes.ended:
      return { type: "ended", ...parsed<Ended>(payload) };
    case frameTypes.refused:
      return { type: "refused", ...parsed<{ code: string; detail: string }>(payload) };
    case frameTypes.terminals:
      return { type: "terminals", ...parsed<{ names: string[] }>(payload) };
    case frameTypes.use:
      return { type: "use", ...parsed<{ idle_seconds: number | null }>(payload) };
    default:
      return null;
  }
}

function parsed<T extends object>(payload: Uint8Array): T {
  try {
    const value: unknown = JSON.parse(text.decode(payload));
    if (typeof value === "object" && value !== null) return value as T;
  } catch {
    // The answer below is the same for text that is no JSON.
  }
  throw new Fault("bad_frame", "a frame of the terminal protocol has no JSON object", {
    retry: "never",
  });
}
