import { expect, test } from "vitest";
import { drawnLines } from "./drawn-lines.ts";
import { lineFor } from "./example-lines.ts";
import type { Line } from "./line.ts";

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

test("validation lines are thick with dots, and training lines are thin without dots", () => {
  const [validation, training] = drawnLines([line(1), line(1, "training")], none, 0, palette);
  expect(validation).toMatchObject({ dots: true, colour: "h1" });
  expect(training).toMatchObject({ dots: false, width: 1, colour: "h1" });
  expect(validation?.width).toBeGreaterThan(1);
});

test("a line of one point is drawn as a dot, also with smoothing", () => {
  const one = { ...line(1, "system", 1), x: [1], y: [3], low: [3], high: [3] };
  expect(drawnLines([one], none, 0, palette)[0]?.dots).toBe(true);
  expect(drawnLines([one], none, 0.5, palette)[1]?.dots).toBe(true);
});

test("a band is drawn where buckets have several points, but not for grey lines", () => {
  expect(drawnLines([line(1, "training", 300)], none, 0, palette)[0]?.band).toBe(true);
  expect(drawnLines([line(1)], none, 0, palette)[0]?.band).toBe(false);
  const many = Array.from({ length: 20 }, (_, index) => line(index + 1, "training", 300));
  expect(drawnLines(many, none, 0, palette).some(({ band }) => band)).toBe(false);
});

test("the hovered trial is drawn last, above emphasised trials, and the others are faint", () => {
  const drawn = drawnLines(
    [line(1), line(2), line(3)],
    { emphasised: new Set(["12.2"]), highlighted: "12.1" },
    0,
    palette,
  );
  expect(drawn.map(({ line: { of } }) => of)).toEqual(["12.3", "12.2", "12.1"]);
  expect(drawn[2]?.alpha).toBeGreaterThan(drawn[0]?.alpha ?? 1);
});

test("lines keep their strength if the highlighted trial is of another chart", () => {
  const drawn = drawnLines([line(1)], { ...none, highlighted: "12.9" }, 0, palette);
  expect(drawn[0]?.alpha).toBe(1);
});

test("smoothing draws the average above the reported values", () => {
  const drawn = drawnLines([line(1)], none, 0.5, palette);
  expect(drawn).toHaveLength(2);
  expect(drawn[0]).toMatchObject({ y: [3, 0, 3], dots: false });
  expect(drawn[1]?.y[1]).toBeGreaterThan(0);
});
