/** Tests a search's settings on a real cluster: conditions, constraints, points to try first, earlier experiments. */
import { expect, test } from "vitest";
import { world } from "./cluster.ts";

const config = (searcher: string): string => `
name: spaces
entrypoint: python3 train.py
hyperparameters:
  lr: { type: double, minval: 0, maxval: 1 }
  kind: { type: categorical, vals: [plain, deep] }
  deep: { type: nested, when: { kind: deep }, hyperparameters: { depth: { type: int, minval: 1, maxval: 9 } } }
searcher: ${searcher}
reproducibility: { experiment_seed: 21 }
environment: { environment_variables: ["STEPS=2", "STEP_SECONDS=0.01"] }
`;

type Point = {
  readonly lr: number;
  readonly kind: string;
  readonly deep?: { readonly depth: number };
};
type Shown = { readonly hyperparameters: Point; readonly origin: string };

async function trialsOf(experiment: string): Promise<readonly Shown[]> {
  expect(await world.end(experiment)).toBe("COMPLETED");
  const { items } = await world.client.call("listTrials", { experiment, pageSize: 100 });
  return items.map(({ hyperparameters, origin }) => ({
    hyperparameters: hyperparameters as unknown as Point,
    origin,
  }));
}

const constraints = 'constraints: ["lr < 0.5 or deep.depth > 5"]';

function expectAllowed(trials: readonly Shown[]): void {
  for (const { hyperparameters } of trials) {
    const { lr, kind, deep } = hyperparameters;
    expect(deep !== undefined).toBe(kind === "deep");
    if (deep !== undefined) expect(lr < 0.5 || deep.depth > 5).toBe(true);
  }
}

test("a search stays in its space, tries given points first and learns from an earlier experiment", async () => {
  const first = await world.submit(
    config(
      `{ name: random, metric: loss, max_trials: 12, ${constraints}, warm_start: { points: [{ lr: 0.25, kind: deep }] } }`,
    ),
    world.code("curves"),
  );
  const drawn = await trialsOf(first);
  expect(drawn).toHaveLength(12);
  expectAllowed(drawn);
  expect(drawn[0]).toMatchObject({ hyperparameters: { lr: 0.25, kind: "deep" }, origin: "given" });
  expect(drawn[1]?.origin).toBe("drawn");

  const file = config(
    `{ name: tpe, metric: loss, max_trials: 3, ${constraints}, warm_start: { experiments: [${first}] } }`,
  );
  const second = await world.submit(file, world.code("curves"));
  const modelled = await trialsOf(second);
  expectAllowed(modelled);
  expect(modelled.map(({ origin }) => origin)).toEqual(["model", "model", "model"]);
  expect((await world.yard("search", "replay", second)).out).toMatch(/ 0 differences\n$/);

  const other = world.write("other.yaml", file.replace("metric: loss", "metric: accuracy"));
  const refused = await world.yard("e", "create", other, "code-curves");
  expect(refused).toMatchObject({ code: 2, out: "" });
  expect(refused.err).toMatch(/^searcher\.warm_start\.experiments\[0\]: .* searches by loss/);
});
