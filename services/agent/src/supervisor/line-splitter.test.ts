import { expect, test } from "vitest";
import { LineSplitter } from "./line-splitter.ts";

function split(...chunks: readonly string[]): readonly string[] {
  const splitter = new LineSplitter();
  const lines = chunks.flatMap((chunk) => splitter.push(Buffer.from(chunk)));
  return [...lines, ...splitter.end()].map(({ text, continued }) => text + (continued ? "…" : ""));
}

test("newlines end lines, blank lines are kept, and the last line needs no newline", () => {
  expect(split("a\n\nb\nc")).toEqual(["a", "", "b", "c"]);
});

test("a carriage return ends a line, and with a newline after it ends only one", () => {
  expect(split("\r 10%\r 20%\r 30%\n")).toEqual([" 10%", " 20%", " 30%"]);
  expect(split("a\r\n\r\nb\r\n")).toEqual(["a", "", "b"]);
  expect(split("a\r", "\nb\r", "c")).toEqual(["a", "b", "c"]);
});

test("only a lone carriage return rewrites its line, however the bytes arrive", () => {
  for (const chunks of [
    ["a\r\n10%\r20%\r"],
    ["a\r", "\n10%\r", "20%\r"],
    ["a", "\r", "\n", "10%", "\r20%", "\r"],
  ]) {
    const splitter = new LineSplitter();
    const lines = chunks.flatMap((chunk) => splitter.push(Buffer.from(chunk)));
    expect([...lines, ...splitter.end()].map(({ text, rewritten }) => [text, rewritten])).toEqual([
      ["a", false],
      ["10%", true],
      ["20%", false],
    ]);
  }
  expect(split("a\n\r", "\nb")).toEqual(["a", "", "b"]);
});

test("lines are assembled from pieces of any size", () => {
  const text = "erste\nzweite mit ümlaut €\r\ndritte\r";
  const whole = split(text);
  const bytes = Buffer.from(text);
  for (let size = 1; size < 9; size += 1) {
    const splitter = new LineSplitter();
    const lines = [];
    for (let at = 0; at < bytes.length; at += size) {
      lines.push(...splitter.push(bytes.subarray(at, at + size)));
    }
    expect([...lines, ...splitter.end()].map(({ text }) => text)).toEqual(whole);
  }
});

test("a line of more than 16 KiB is split between characters, and marked", () => {
  const full = "x".repeat(16 * 1024);
  expect(split(`${full}\n`)).toEqual([full]);
  expect(split(`${full}y\n`)).toEqual([`${full}…`, "y"]);
  const euros = "€".repeat(12_000);
  for (const lines of [split(`${euros}\n`), split(euros.slice(0, 7_000), euros.slice(7_000))]) {
    expect(lines.map((line) => line.replace("…", "")).join("")).toBe(euros);
    expect(lines.slice(0, -1).every((line) => line.endsWith("…"))).toBe(true);
    expect(lines.join("")).not.toContain("\uFFFD");
    expect(lines).toHaveLength(3);
  }
});

test("characters that databases do not store are replaced", () => {
  const splitter = new LineSplitter();
  const [line] = splitter.push(Buffer.from([97, 0, 98, 0xff, 10]));
  expect(line?.text).toBe("a\uFFFDb\uFFFD");
});
