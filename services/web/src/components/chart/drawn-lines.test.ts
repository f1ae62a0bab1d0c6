import { expect, test } from "vitest";
import { drawnLines, type Emphasis } from "./drawn-lines.ts";
import { lineFor } from "./example-lines.ts";
import type { Line } from "./line.ts";
import { smoothed } from "./smooth.ts";

const palette = { hues: ["h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8"], grey: "grey" };

function line(trial: number, group = "validation", points = 3): Line {
  return {
    ...lineFor(trial, [1, 2, 3], [3, 0, 3]),
    group,
    low: [1, 1, 1],
    high: [9, 9, 9],
    points,
  };
}

const none = { emphasised: new Set<string>(), highlighted: null };

function drawn(lines: readonly Line[], emphasis: Emphasis = none, smoothing = 0) {
  const values = lines.map((one) => ({ line: one, y: smoothed(one.y, smoothing) }));
  return drawnLines(values, emphasis, palette);
}

test("validation lines are thick with dots, and training lines are thin without dots", () => {
  const [validation, training] = drawn([line(1), line(1, "training")]);
  expect(validation).toMatchObject({ dots: true, colour: "h1" });
  expect(training).toMatchObject({ dots: false, width: 1, colour: "h1" });
  expect(validation?.width).toBeGreaterThan(1);
});

test("a line of one point is drawn as a dot, also with smoothing", () => {
  const one = { ...line(1, "system", 1), x: [1], y: [3], low: [3], high: [3] };
  expect(drawn([one])[0]?.dots).toBe(true);
  expect(drawn([one], none, 0.5)[1]?.dots).toBe(true);
});

test("a band is drawn where buckets have several points, but not for grey lines", () => {
  expect(drawn([line(1, "training", 300)])[0]?.band).toBe(true);
  expect(drawn([line(1)])[0]?.band).toBe(false);
  const many = Array.from({ length: 20 }, (_, index) => line(index + 1, "training", 300));
  expect(drawn(many).some(({ band }) => band)).toBe(false);
});

test("the hovered trial is drawn last, above emphasised trials, and the others are faint", () => {
  const all = [line(1), line(2), line(3)];
  const shown = drawn(all, { emphasised: new Set(["12.2"]), highlighted: "12.1" });
  expect(shown.map(({ line: { of } }) => of)).toEqual(["12.3", "12.2", "12.1"]);
  expect(shown[2]?.alpha).toBeGreaterThan(shown[0]?.alpha ?? 1);
});

test("lines keep their strength if the highlighted trial is of another chart", () => {
  expect(drawn([line(1)], { ...none, highlighted: "12.9" })[0]?.alpha).toBe(1);
});

test("smoothing draws the average above the reported values", () => {
  const shown = drawn([line(1)], none, 0.5);
  expect(shown).toHaveLength(2);
  expect(shown[0]).toMatchObject({ y: [3, 0, 3], dots: false });
  expect(shown[1]?.y[1]).toBeGreaterThan(0);
});
