/** Cases of Determined's searchers: the points of grids and of random search. */
import {
  gridAxisLength,
  gridSize,
  type HyperparameterSpace,
  type JsonObject,
  parseExperiment,
} from "@trainyard/experiment-config";
import { isRejection } from "@trainyard/kernel";
import { gridPoint, sampledPoint } from "@trainyard/search";
import type { Case } from "./case-file.ts";
import { difference } from "./same.ts";

/** The space in the form of the configuration: a value that a configuration cannot contain makes the space invalid. */
function spaceOf(
  one: Case,
  hyperparameters: unknown = one["hyperparameters"],
): HyperparameterSpace {
  const parsed = parseExperiment(
    JSON.stringify({
      entrypoint: "true",
      searcher: { name: "single", metric: "loss" },
      checkpoint_storage: { type: "directory", container_path: "/" },
      hyperparameters,
    }),
  );
  if (isRejection(parsed)) throw new Error(parsed.detail);
  return parsed.config.hyperparameters;
}

function gridPoints(space: HyperparameterSpace): JsonObject[] {
  return Array.from({ length: gridSize(space) }, (_, i) => gridPoint(space, i));
}

const inOrder = (points: readonly unknown[]): unknown[] =>
  points.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** A mapping with its keys in order, so that its text is comparable. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}

function sampling(one: Case): string | null {
  const space = spaceOf(one);
  const seeds = Array.isArray(one["seeds"]) ? one["seeds"].map(Number) : [Number(one["seed"])];
  const expected = (one["expect"] ?? {}) as Readonly<Record<string, unknown>>;
  for (const seed of seeds) {
    const point = sampledPoint(space, seed, 1);
    if (expected["same_seed_same_sample"] !== true) return difference(point, expected);
    const again = difference(sampledPoint(space, seed, 1), point);
    if (again !== null) return `seed ${seed} twice: ${again}`;
    const count = Object.keys(point).length;
    if (count !== expected["num_params"]) return `${count} parameters`;
  }
  return null;
}

export const searcherChecks: Readonly<Record<string, (one: Case) => string | null>> = {
  grid_size: (one) => difference(gridSize(spaceOf(one)), one["expect_count"]),
  grid_axis: (one) => {
    const { axis } = spaceOf(one, { axis: one["hyperparameter"] });
    if (axis === undefined || typeof axis.type !== "string") return "it is not a hyperparameter";
    return difference(
      gridAxisLength(axis as Parameters<typeof gridAxisLength>[0]),
      one["expect_len"],
    );
  },
  grid_points: (one) => {
    const points = sorted(gridPoints(spaceOf(one))) as unknown[];
    const expected = sorted(one["expect"]) as unknown[];
    if (one["ordered"] === true) return difference(points, expected);
    return difference(inOrder(points), inOrder(expected));
  },
  sampling,
};
