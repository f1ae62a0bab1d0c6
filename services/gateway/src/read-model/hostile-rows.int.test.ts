/** Tests that no value of a user stops the rows of lists, nor their rebuild. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { foldingServices } from "../api/cluster/verify.ts";
import { created, requested, searchStarted, validation } from "../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const long = fc
  .tuple(
    fc.constantFrom("\u{10ffff}", "\uffff", "ﷺ", "a", "\0", "\ud800", "İ"),
    fc.nat({ max: 700 }),
  )
  .map(([text, times]) => text.repeat(times));
const text = fc.oneof(fc.string({ unit: "binary" }), long, fc.constantFrom("NaN", "", "a.b", "a"));
const number = fc.oneof(fc.double(), fc.constantFrom(5e-324, 1e308, -0));
const leaf = fc.oneof(text, number.filter(Number.isFinite), fc.boolean(), fc.constant(null));
const hyperparameters = fc.dictionary(
  text,
  fc.oneof(leaf, fc.dictionary(text, leaf), fc.array(leaf)),
);

test("a text, number or name of a user never keeps an experiment or trial out of its list, nor makes a rebuild differ", async () => {
  let next = 1;
  const one = fc.record({
    name: text,
    owner: text,
    workspace: text,
    project: text,
    labels: fc.array(text, { maxLength: 300 }),
    hyperparameters,
    metric: text,
    metrics: fc.dictionary(text, number),
    loss: number,
  });
  await fc.assert(
    fc.asyncProperty(one, async ({ metric, metrics, loss, ...drawn }) => {
      const id = String(next);
      next += 1;
      const { hyperparameters: values, ...names } = drawn;
      const config = {
        searcher: { name: "random", metric: metric || "loss" },
        hyperparameters: values,
      };
      await gateway.append(`experiment-${id}`, created({ ...names, config }));
      await gateway.append(`search-${id}`, searchStarted());
      const trial = { number: 1, seed: 1, warmStartCheckpoint: "", sourceTrial: "" };
      const data = { ...trial, experiment: id, origin: "drawn", hyperparameters: values };
      await gateway.append(`trial-${id}.1`, { type: "TrialCreated", data }, requested(1, 0));
      const report = validation({ step: 1, loss });
      const reported = {
        ...report.data,
        trial: `${id}.1`,
        metrics: { ...metrics, [metric || "loss"]: loss },
      };
      const position = await gateway.append(`measurement-${id}.1`, { ...report, data: reported });
      const query = `minPosition=${position}&filter=id%3D${id}&archived=true`;
      const { body } = await gateway.call("GET", `/api/v1/experiments?${query}`);
      expect(body["items"]).toMatchObject([{ id }]);
      const trials = await gateway.call(
        "GET",
        `/api/v1/experiments/${id}/trials?orderBy=best_value`,
      );
      expect(trials.body["items"]).toHaveLength(1);
      const aside = await gateway.sql("select stream, reason from gateway.view_set_aside");
      expect(aside.rows).toEqual([]);
    }),
    { numRuns: 60, seed: 16 },
  );
  const holds = { done: true, views: [] };
  const allHold = Object.fromEntries(foldingServices.map((service) => [service, [holds]]));
  await using _services = await gateway.verifying(allHold);
  const verify = async () =>
    String((await gateway.call("POST", "/api/v1/log:verify", { body: {} })).body["text"]);
  expect(await verify()).toContain('"done":true,"ok":true');
  await gateway.sql(
    "update gateway.experiment_rows set labels = labels || 'more'::text where id = '1'",
  );
  expect(await verify()).toContain('that differs is experiment_rows (id \\"1\\"): labels is');
});
