/** Properties that every document must have, even a nonsensical one. */
import { isRejection, limits, utf8Bytes } from "@trainyard/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Json, type JsonObject } from "./json.ts";
import { parseExperiment } from "./parse.ts";
import { documentKeys } from "./experiment.ts";
import { defaults } from "./testing/documents.ts";

const words = fc.constantFrom(
  "name",
  "type",
  "metric",
  "minval",
  "maxval",
  "count",
  "vals",
  "val",
  "base",
  "int",
  "log",
  "double",
  "random",
  "grid",
  "single",
  "directory",
  "shared_fs",
  "container_path",
  "host_path",
  "storage_path",
  "max_trials",
  "environment_variables",
  "cpu",
  "gpu",
  "slots_per_trial",
  "A=1",
  "/a",
  "..",
  "",
  "webhooks",
  "experiment_seed",
  "devices",
  "proxy_ports",
  "pachyderm",
  "registry_auth",
  "toString",
  "constructor",
);

const anything = fc.letrec<{ node: Json }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, 1, -1, 0.5, 1e300, -1e300),
    words,
    fc.array(tie("node"), { maxLength: 3 }),
    fc.dictionary(words, tie("node"), { maxKeys: 5 }),
  ),
})).node;

const keys = fc.constantFrom(...documentKeys);
const document: fc.Arbitrary<JsonObject> = fc.dictionary(keys, anything, { maxKeys: 6 });

describe("parseExperiment", () => {
  it("returns a configuration or problems for every document", () => {
    fc.assert(
      fc.property(document, fc.option(document, { nil: defaults }), (mine, theirs) => {
        const result = parseExperiment(JSON.stringify(mine), { defaults: theirs });
        if (isRejection(result)) {
          expect(result.problems?.length).toBeGreaterThan(0);
          for (const { detail } of result.problems ?? []) {
            expect(detail).not.toMatch(/Invalid|undefined|\[object|expected/);
          }
        } else {
          expect(utf8Bytes(JSON.stringify(result.config))).toBeLessThanOrEqual(
            limits.configBytesMax,
          );
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it("returns an equal result when it parses its own result", () => {
    const section = fc.record({ a: anything, b: anything });
    fc.assert(
      fc.property(section, fc.integer({ min: 1, max: 9 }), (data, max_trials) => {
        const text = JSON.stringify({
          entrypoint: "true",
          data,
          hyperparameters: {
            n: { type: "int", minval: 0, maxval: max_trials },
            x: { type: "const", val: [data] },
            e: {},
            l: [1, [null, "a"]],
          },
          searcher: { name: "random", metric: "loss", max_trials, max_length: 3 },
          resources: { weight: 2 },
        });
        const once = parseExperiment(text, { defaults });
        if (isRejection(once)) throw new Error(once.detail);
        const twice = parseExperiment(JSON.stringify(once.config));
        expect(twice).toEqual(once);
        expect(JSON.stringify(isRejection(twice) ? twice : twice.config)).toBe(
          JSON.stringify(once.config),
        );
      }),
    );
  });
});
