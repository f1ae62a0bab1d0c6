/** Test functions with known minima, and the spaces in which searches minimise them. */
import type {
  HyperparameterSpace,
  JsonObject,
  NormalisedConfig,
} from "@trainyard/experiment-config";

export type TestFunction = {
  readonly name: string;
  readonly space: NormalisedConfig["hyperparameters"];
  readonly valueAt: (point: JsonObject) => number;
  readonly minimum: number;
};

function box(dimensions: number, minval: number, maxval: number): HyperparameterSpace {
  return Object.fromEntries(
    Array.from({ length: dimensions }, (_, i) => [
      `x${i + 1}`,
      { type: "double", minval, maxval, count: null } as const,
    ]),
  );
}

const vectorOf = (point: JsonObject, dimensions: number): number[] =>
  Array.from({ length: dimensions }, (_, i) => Number(point[`x${i + 1}`]));

export const branin: TestFunction = {
  name: "branin",
  space: {
    x1: { type: "double", minval: -5, maxval: 10, count: null },
    x2: { type: "double", minval: 0, maxval: 15, count: null },
  },
  valueAt: (point) => {
    const [x1 = 0, x2 = 0] = vectorOf(point, 2);
    const b = 5.1 / (4 * Math.PI * Math.PI);
    const bowl = x2 - b * x1 * x1 + (5 / Math.PI) * x1 - 6;
    return bowl * bowl + 10 * (1 - 1 / (8 * Math.PI)) * Math.cos(x1) + 10;
  },
  minimum: 0.397887,
};

const hartmannA = [
  [10, 3, 17, 3.5, 1.7, 8],
  [0.05, 10, 17, 0.1, 8, 14],
  [3, 3.5, 1.7, 10, 17, 8],
  [17, 8, 0.05, 10, 0.1, 14],
];
const hartmannP = [
  [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
  [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
  [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.665],
  [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
];
const hartmannAlpha = [1, 1.2, 3, 3.2];

export const hartmann6: TestFunction = {
  name: "hartmann6",
  space: box(6, 0, 1),
  valueAt: (point) => {
    const x = vectorOf(point, 6);
    return -hartmannAlpha.reduce((sum, alpha, i) => {
      const inner = x.reduce((total, value, j) => {
        const distance = value - (hartmannP[i]?.[j] ?? 0);
        return total + (hartmannA[i]?.[j] ?? 0) * distance * distance;
      }, 0);
      return sum + alpha * Math.exp(-inner);
    }, 0);
  },
  minimum: -3.32237,
};

export const ackley5: TestFunction = {
  name: "ackley5",
  space: box(5, -32.768, 32.768),
  valueAt: (point) => {
    const x = vectorOf(point, 5);
    const squares = x.reduce((sum, value) => sum + value * value, 0);
    const waves = x.reduce((sum, value) => sum + Math.cos(2 * Math.PI * value), 0);
    return -20 * Math.exp(-0.2 * Math.sqrt(squares / 5)) - Math.exp(waves / 5) + 20 + Math.E;
  },
  minimum: 0,
};

export const rosenbrock4: TestFunction = {
  name: "rosenbrock4",
  space: box(4, -5, 10),
  valueAt: (point) => {
    const x = vectorOf(point, 4);
    let sum = 0;
    for (let i = 0; i + 1 < x.length; i += 1) {
      const a = x[i] ?? 0;
      const b = x[i + 1] ?? 0;
      sum += 100 * (b - a * a) ** 2 + (a - 1) ** 2;
    }
    return sum;
  },
  minimum: 0,
};
