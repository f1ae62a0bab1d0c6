import { expect, test } from "vitest";
import { meaningOf } from "./keys.ts";

const press = (key: string, held: object = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...held,
});
const idle = { isTyping: false, afterG: false };
const jumps = { h: "/", e: "/experiments" };

test("the key g followed by a letter opens a page, and g alone waits for the letter", () => {
  expect(meaningOf(press("g"), idle, jumps)).toEqual({ kind: "jump" });
  const afterG = { ...idle, afterG: true };
  expect(meaningOf(press("e"), afterG, jumps)).toEqual({ kind: "go", to: "/experiments" });
  expect(meaningOf(press("constructor"), afterG, jumps)).toBeNull();
  expect(meaningOf(press("e"), idle, jumps)).toBeNull();
});

test("keys in a field are text, but the palette opens from everywhere", () => {
  const typing = { ...idle, isTyping: true };
  for (const key of ["g", "/", "?", "j", "x"]) {
    expect(meaningOf(press(key), typing, jumps)).toBeNull();
  }
  expect(meaningOf(press("k", { metaKey: true }), typing, jumps)).toEqual({ kind: "palette" });
  expect(meaningOf(press("K", { ctrlKey: true }), idle, jumps)).toEqual({ kind: "palette" });
});

test("shortcuts of the browser are not handled", () => {
  expect(meaningOf(press("g", { ctrlKey: true }), idle, jumps)).toBeNull();
  expect(meaningOf(press("/", { altKey: true }), idle, jumps)).toBeNull();
});
