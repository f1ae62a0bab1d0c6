import fc from "fast-check";
import { expect, test } from "vitest";
import { newTerminal, shownBy, write } from "../testing/screen.ts";
import { FollowedScreen } from "./followed-screen.ts";
import { Ground } from "./ground.ts";

const size = { columns: 24, rows: 8 };
const number = (max: number) => fc.integer({ min: 1, max });

/** Sequences of full-screen programs, with colours, margins, two screens, drawing characters and wide ones. */
const piece = fc.oneof(
  fc.string({ maxLength: 30 }).map((text) => text.replaceAll(/[^ -~]/g, "x")),
  fc.constantFrom("é", "日本", "🚀", "\r\n", "\n", "\r", "\b", "\t"),
  fc.constantFrom("\x1b[?25l", "\x1b[?25h", "\x1b[?1049h", "\x1b[?1049l", "\x1b(0", "\x1b(B"),
  fc.constantFrom("\x1bM", "\x1bD", "\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[J", "\x1b[1J", "\x1b[2J"),
  fc.constantFrom("\x1b[0m", "\x1b[1;31m", "\x1b[7m", "\x1b[44m", "\x1b[38;5;120m", "\x1b[4m"),
  fc.constantFrom("\x1b[?1h", "\x1b[?1l", "\x1b[?2004h", "\x1b]0;a title\x07", "\x1b]8;;\x1b\\"),
  fc.tuple(number(8), number(24)).map(([row, column]) => `\x1b[${row};${column}H`),
  fc.tuple(number(8), number(8)).map(([top, bottom]) => `\x1b[${top};${bottom}r`),
  fc
    .tuple(number(5), fc.constantFrom("A", "B", "C", "D", "L", "M", "P", "@", "X", "S", "T"))
    .map(([count, what]) => `\x1b[${count}${what}`),
);

test("the screen after a snapshot and the output since is the one of all output, wherever the snapshot is taken", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 60 }), fc.nat(), async (pieces, place) => {
      const output = new TextEncoder().encode(pieces.join(""));
      const ground = new Ground();
      const cut = ground.read(output.subarray(0, place % (output.length + 1)));
      using followed = new FollowedScreen(size);
      followed.write(output.subarray(0, cut));
      const snapshot = followed.snapshot();
      // Behind the end of a line there is none.
      fc.pre(snapshot !== null);
      expect(snapshot?.at).toEqual({ ...size, offset: cut });
      const whole = newTerminal(size);
      await write(whole, output);
      const late = newTerminal(size);
      await write(late, snapshot?.bytes ?? "");
      await write(late, output.subarray(cut));
      expect(shownBy(late)).toEqual(shownBy(whole));
    }),
    { numRuns: 300 },
  );
});

test("output may be cut between its sequences and characters, and not within them", () => {
  const cuts = (text: string): number => new Ground().read(new TextEncoder().encode(text));
  expect(cuts("plain")).toBe(5);
  for (const half of [
    "\x1b",
    "\x1b[",
    "\x1b[1;3",
    "\x1b]0;title",
    "\x1bPq",
    "\x1b(",
    "\x1b]8;;\x1b",
  ]) {
    expect(cuts(`ab${half}`)).toBe(2);
  }
  for (const whole of ["\x1b[1m", "\x1b]0;title\x07", "\x1bPq\x1b\\", "\x1b(0", "\x1b7", "日"]) {
    expect(cuts(`ab${whole}`)).toBe(new TextEncoder().encode(`ab${whole}`).length);
  }
  const character = new TextEncoder().encode("日");
  expect(new Ground().read(character.subarray(0, 2))).toBe(0);
});

test("erasing up to the last column of the last row, at which the emulator throws, erases the screen", () => {
  using followed = new FollowedScreen(size);
  followed.write(new TextEncoder().encode("text\x1b[8;24H\x1b[1J\x1b[H."));
  const text = new TextDecoder().decode(followed.snapshot()?.bytes);
  expect(text).toContain(".");
  expect(text).not.toContain("text");
});
