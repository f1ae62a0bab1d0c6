import { expect, test } from "vitest";
import { ScreenState } from "./screen-state.ts";

const after = (...chunks: readonly string[]): string => {
  const state = new ScreenState();
  for (const chunk of chunks) state.read(Buffer.from(chunk));
  return state.restoring();
};

test("the alternate screen is left only if a program has left it open", () => {
  const leaving = "\x1b[?1049l";
  expect(after("\x1b[?1049hvim")).toContain(leaving);
  expect(after("\x1b[?10", "49h", "vim")).toContain(leaving);
  expect(after("\x1b[?25;1049h")).toContain(leaving);
  expect(after("\x1b[?1049hvim", "\x1b[?1049l$ ")).not.toContain(leaving);
  expect(after("$ ")).not.toContain(leaving);
  expect(after()).toBe("");
});

test("the first screen keeps what the local terminal showed in its scrollback", () => {
  const state = new ScreenState();
  expect(state.emptying(3)).toMatch(/^\n\n\n.*\x1b\[H\x1b\[2J$/s);
  expect(state.emptying(3)).not.toContain("\n");
});
