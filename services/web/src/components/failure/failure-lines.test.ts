import { describe, expect, it } from "vitest";
import { exampleLine } from "../log-view/testing/example-lines.ts";
import { failureLines } from "./failure-lines.ts";

const shownOf = (texts: readonly string[]): readonly string[] =>
  failureLines(texts.map((text, at) => exampleLine(at + 1, { text }))).map(({ text }) => text);

const numbered = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${name} ${at + 1}`);

describe("the lines that say why a process failed", () => {
  it("have the whole traceback, and what happened just before it", () => {
    const frames = numbered("  File", 20);
    const texts = [
      ...numbered("epoch", 30),
      "Traceback (most recent call last):",
      ...frames,
      "RuntimeError: the gradient is not finite",
    ];
    expect(shownOf(texts)).toEqual([
      "epoch 29",
      "epoch 30",
      "Traceback (most recent call last):",
      ...frames,
      "RuntimeError: the gradient is not finite",
    ]);
  });

  it("begin with the first of chained tracebacks, and with the last of separate ones", () => {
    const one = ["Traceback (most recent call last):", "KeyError: 'lr'"];
    const other = ["Traceback (most recent call last):", "ValueError: no rate"];
    const cause = "During handling of the above exception, another exception occurred:";
    expect(shownOf([...one, "", cause, "", ...other])[0]).toBe(one[0]);
    expect(shownOf([...one, "a", "b", "retried", ...other])).toEqual(["b", "retried", ...other]);
  });

  it("are found behind a launcher's prefix", () => {
    const texts = numbered("epoch", 30).concat([
      "[rank=1] Traceback (most recent call last):",
      ...numbered("[rank=1]   File", 12),
    ]);
    expect(shownOf(texts)[2]).toBe("[rank=1] Traceback (most recent call last):");
  });

  it("of a very long traceback are the last ones, and without a traceback the last twelve", () => {
    const long = shownOf(["Traceback (most recent call last):", ...numbered("  File", 60)]);
    expect([long.length, long.at(-1)]).toEqual([40, "  File 60"]);
    expect(shownOf(numbered("epoch", 30))).toEqual(numbered("epoch", 30).slice(-12));
  });
});
