import { parse } from "yaml";
import { describe, expect, test } from "vitest";
import { defaultedPaths } from "./defaulted.ts";
import {
  maskedOverrides,
  maskedSource,
  submittedDocument,
  withMaskedValues,
} from "./masked-source.ts";
import { resubmittedText } from "./resubmitted-text.ts";
import { maskedDocument, maskedPaths } from "./secrets.ts";

describe("secrets of a configuration", () => {
  test("are masked by the name of a key or variable, and in URLs", () => {
    const document = {
      name: "tokenizer sweep",
      environment: {
        environment_variables: [
          "HF_TOKEN=hf_abc",
          "TOKENIZERS_PARALLELISM=false",
          "AWS_SECRET_ACCESS_KEY=x=y",
        ],
        registry_auth: { username: "u", nested: { auth: "dTpw" } },
      },
      data: {
        url: "postgres://reader:hunter2@db/x",
        odd: "redis://u:p@ss@h/0 git+https://ghp_0123456789abcdefghij@x/y",
        wandbApiKey: "k",
        sort_key: "id",
        max_token: 5,
        db_password: 1234,
        empty_password: "",
      },
      hyperparameters: { token: "[CLS]", secret: { type: "const", val: "v" } },
    };
    expect(maskedDocument(document)).toEqual({
      name: "tokenizer sweep",
      environment: {
        environment_variables: [
          "HF_TOKEN=<masked>",
          "TOKENIZERS_PARALLELISM=false",
          "AWS_SECRET_ACCESS_KEY=<masked>",
        ],
        registry_auth: { username: "<masked>", nested: { auth: "<masked>" } },
      },
      data: {
        url: "postgres://reader:<masked>@db/x",
        odd: "redis://u:<masked>@h/0 git+https://<masked>@x/y",
        wandbApiKey: "<masked>",
        sort_key: "id",
        max_token: 5,
        db_password: "<masked>",
        empty_password: "",
      },
      hyperparameters: { token: "[CLS]", secret: { type: "const", val: "v" } },
    });
  });

  test("are requested by their names", () => {
    const document = {
      environment: { environment_variables: { cpu: ["A=1", "HF_TOKEN=<masked>"] } },
      data: { "a.b": "<masked>" },
    };
    expect(maskedPaths(document)).toEqual([
      {
        path: "environment.environment_variables.cpu[1]",
        keys: ["environment", "environment_variables", "cpu", 1],
        value: "HF_TOKEN=<masked>",
        name: "HF_TOKEN",
      },
      { path: 'data["a.b"]', keys: ["data", "a.b"], value: "<masked>", name: 'data["a.b"]' },
    ]);
  });
});

describe("a masked YAML text", () => {
  test("keeps comments and formatting, and does not contain the secret", () => {
    const text = [
      "name: iris  # the small one",
      "x: &hidden topsecret-1",
      "data:",
      "  password: *hidden",
      "  api_key: |",
      "    line-one",
      "    line-two",
      "  url: 'redis://u:pass-word@host'   # was redis://u:pass-word@old",
      "environment:",
      '  environment_variables: ["HF_TOKEN=hf_\\x61bc", A=1]',
      "",
    ].join("\n");
    const masked = maskedSource(text);
    expect(masked).toContain("name: iris  # the small one");
    expect(masked).not.toMatch(/topsecret|line-|pass-word|hf_/);
    expect(parse(masked)).toEqual({
      name: "iris",
      x: "<masked>",
      data: { password: "<masked>", api_key: "<masked>", url: "redis://u:<masked>@host" },
      environment: { environment_variables: ["HF_TOKEN=<masked>", "A=1"] },
    });
  });

  test("is unchanged if it has no secrets", () => {
    const text = "# hello\nname:   iris\n";
    expect(maskedSource(text)).toBe(text);
    expect(maskedSource("- 1")).toBe("");
  });

  test("is returned with its overrides, which are masked too", () => {
    const overrides = [
      "data.password=abc",
      "name=x",
      'environment.environment_variables=["T_TOKEN=1"]',
    ];
    expect(maskedOverrides(overrides)).toEqual([
      'data.password="<masked>"',
      "name=x",
      'environment.environment_variables=["T_TOKEN=<masked>"]',
    ]);
  });
});

test("the keys that neither the text nor its overrides contain are reported as defaults", () => {
  const submitted = submittedDocument("name: a\nsearcher: {name: single}", [
    "resources.slots_per_trial=2",
  ]);
  const recorded = {
    name: "a",
    description: "",
    searcher: { name: "single", metric: "loss" },
    resources: { slots_per_trial: 2, priority: 42 },
    optimizations: { gradient_compression: false },
  };
  expect(defaultedPaths(submitted ?? {}, recorded)).toEqual([
    "searcher.metric",
    "resources.priority",
    "optimizations",
  ]);
});

test("a masked text can be submitted again with the secrets filled in", () => {
  const text = "a: 1 # kept\ndata: {url: 'redis://u:<masked>@h'}\nvars: [T_TOKEN=<masked>]\n";
  const masked = maskedPaths(submittedDocument(text, []) ?? {});
  const whole = withMaskedValues(text, masked, (name) => (name === "T_TOKEN" ? "$&1" : "2"));
  expect(whole).toContain("# kept");
  expect(parse(whole)).toEqual({ a: 1, data: { url: "redis://u:2@h" }, vars: ["T_TOKEN=$&1"] });
});

test("a configuration that is submitted again names no storage, workspace or project of its first cluster", () => {
  const place = { type: "directory", container_path: "/home/ada/checkpoints" };
  const recorded = { name: "a", workspace: "", project: "", checkpoint_storage: place };
  const again = (given: object, defaulted: readonly string[]): unknown =>
    (
      parse(resubmittedText({ ...recorded, ...given }, 7, defaulted).text) as Record<
        string,
        unknown
      >
    )["checkpoint_storage"];
  expect(parse(resubmittedText(recorded, 7, ["checkpoint_storage", "max_restarts"]).text)).toEqual({
    name: "a",
    reproducibility: { experiment_seed: 7 },
  });
  const kept = { checkpoint_storage: { ...place, save_trial_best: 3 } };
  const defaulted = ["checkpoint_storage.type", "checkpoint_storage.container_path"];
  expect(again(kept, defaulted)).toEqual({ save_trial_best: 3 });
  expect(again(kept, [])).toEqual(kept.checkpoint_storage);
  const team = parse(resubmittedText({ workspace: "team", project: "a" }, 7, []).text);
  expect(team).toMatchObject({ workspace: "team", project: "a" });
});

test("any text becomes a YAML text that is read back unchanged", () => {
  const awkward = {
    n: ["on", "1e3", "- a", "x: y #", "a\nb\n", "'", "<<", "!x", "", " b "],
    v: [1e21, -0.5, true, null],
  };
  const { text, masked } = resubmittedText({ data: awkward }, 7);
  expect(parse(text)).toEqual({ data: awkward, reproducibility: { experiment_seed: 7 } });
  expect(masked).toEqual([]);
});
