import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter } from "./line-splitter.ts";
import { RewrittenLines, stateGapMs } from "./rewritten-lines.ts";

type Piece = { readonly text: string; readonly atMs: number };

function stored(...pieces: readonly (string | Piece)[]): readonly string[] {
  const splitter = new LineSplitter();
  const rewritten = new RewrittenLines();
  let nowMs = 0;
  const lines = pieces.flatMap((piece) => {
    const { text, atMs } = typeof piece === "string" ? { text: piece, atMs: nowMs } : piece;
    nowMs = atMs;
    return [...rewritten.push(splitter.push(Buffer.from(text)), nowMs), ...rewritten.due(nowMs)];
  });
  return [...lines, ...rewritten.push(splitter.end(), nowMs), ...rewritten.end()].map(
    ({ text }) => text,
  );
}

const bar = (share: number, label = ""): string =>
  `${label}${share}%|${"█".repeat(share / 10)}| ${share}/100 [00:0${share % 7}<00:09, ${share}.5it/s]`;

test("100 updates of a bar are one line, its last state, with and without a newline at its end", () => {
  const updates = Array.from({ length: 101 }, (_, share) => `\r${bar(share)}`).join("");
  expect(stored(updates)).toEqual([bar(100)]);
  expect(stored(`${updates}\n`)).toEqual([bar(100)]);
  expect(stored(`${updates}\r`)).toEqual([bar(100)]);
  expect(stored(`before\n${updates}\nafter\n`)).toEqual(["before", bar(100), "after"]);
  const after = Array.from({ length: 101 }, (_, share) => `${bar(share, "Epoch 3: ")}\r`).join("");
  expect(stored(after)).toEqual([bar(100, "Epoch 3: ")]);
});

test("the last state before another line is stored, as before the traceback of an error", () => {
  expect(stored("step 1\rstep 2\rTraceback (most recent call last):\n")).toEqual([
    "step 2",
    "Traceback (most recent call last):",
  ]);
  expect(stored("50%\r", "\n\n")).toEqual(["50%", ""]);
});

test("a bar that is wiped for a message leaves no line", () => {
  const wipe = `\r${" ".repeat(20)}\r`;
  expect(stored(`\r${bar(10)}${wipe}a message\n\r${bar(10)}\r${bar(20)}${wipe}another\n`)).toEqual([
    "a message",
    "another",
  ]);
});

test("of a bar below another bar only its last state is stored", () => {
  const inner = (share: number): string => `\n\r${bar(share, "batches: ")}\u001b[A`;
  const epochs = (share: number): string => `\r${bar(share, "epochs: ")}`;
  const text = `${epochs(0)}${inner(0)}${inner(50)}${inner(100)}${epochs(50)}\n`;
  expect(stored(text)).toEqual([
    bar(0, "epochs: "),
    `${bar(100, "batches: ")}\u001b[A`,
    bar(50, "epochs: "),
  ]);
});

test("states keep the rank that a launcher writes", () => {
  expect(stored("[rank=3] \r[rank=3] 10%\r[rank=3] 20%\n[rank=1] 5%\r[rank=1] 6%\n")).toEqual([
    "[rank=3] 20%",
    "[rank=1] 6%",
  ]);
});

test("a line that is rewritten for long is stored every ten seconds, and its last state in any case", () => {
  const pieces = Array.from({ length: 301 }, (_, n) => ({ text: `\r${n} of 300`, atMs: n * 100 }));
  // A state is complete with the carriage return of the next one.
  expect(stored(...pieces)).toEqual(["100 of 300", "200 of 300", "300 of 300"]);
  const stalled = [
    { text: "1 of 9\r2 of 9\r3", atMs: 0 },
    { text: "", atMs: stateGapMs },
  ];
  expect(stored(...stalled)).toEqual(["2 of 9", "3"]);
});

const word = fc.stringMatching(/^[a-z0-9 %|:]{0,12}$/);

test("ordinary lines are all stored in order, between any states and in chunks of any size", () => {
  const ends = fc.constantFrom("\n", "\r\n", "\r", "\r   \r", "\u001b[A\n");
  const world = fc.array(fc.record({ word, end: ends, ms: fc.nat(20_000) }), { maxLength: 30 });
  fc.assert(
    fc.property(world, fc.integer({ min: 1, max: 40 }), (parts, chunk) => {
      const text = parts.map((part) => part.word + part.end).join("");
      const bytes = Buffer.from(text);
      const pieces = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, n) =>
        bytes.subarray(n * chunk, (n + 1) * chunk).toString(),
      );
      const whole = stored(text);
      // At one time the result does not depend on the chunks.
      expect(stored(...pieces)).toEqual(whole);
      const isOrdinary = (end: string): boolean => end === "\n" || end === "\r\n";
      const ordinary = text
        .split(/\r?\n/)
        .slice(0, -1)
        .flatMap((line) =>
          line.endsWith("\u001b[A") ? [] : [line.slice(line.lastIndexOf("\r") + 1)],
        );
      const timed = stored(
        ...parts.map((part, n) => ({ text: part.word + part.end, atMs: n * part.ms })),
      );
      for (const lines of [whole, timed]) {
        let at = 0;
        for (const line of ordinary) {
          at = lines.indexOf(line, at) + 1;
          expect(at).toBeGreaterThan(0);
        }
      }
      if (parts.every(({ end }) => isOrdinary(end))) expect(whole).toEqual(ordinary);
    }),
  );
});

test("the last state of a bar is stored, whatever ends it", () => {
  const states = fc.array(fc.nat(99), { minLength: 1, maxLength: 20 });
  const end = fc.constantFrom("", "\r", "\n", "\r\n", "\rTraceback\n");
  fc.assert(
    fc.property(states, end, fc.nat(3_000), (shares, how, ms) => {
      const pieces = shares.map((share, n) => ({
        text: `\r${bar(share, "train ")}`,
        atMs: n * ms,
      }));
      const lines = stored(...pieces, how);
      const bars = lines.filter((line) => line.startsWith("train"));
      expect(bars.at(-1)).toBe(bar(shares.at(-1) ?? 0, "train "));
      expect(bars.length).toBeLessThanOrEqual(2 + (shares.length * ms) / stateGapMs);
    }),
  );
});
