import { describe, expect, it } from "vitest";
import type { Policy } from "../foreign/experiment.ts";
import { policyDecider } from "./decide.ts";

const policy: Policy = { saveExperimentBest: 1, saveTrialBest: 2, saveTrialLatest: 3 };
const asked = (changed: Policy) => ({ policy: changed, by: "ada", reason: "disk" });

describe("a retention policy", () => {
  it("that is in force already changes nothing", () => {
    expect(policyDecider.decide({ policy }, asked({ ...policy }))).toEqual([]);
  });

  it("is set if none was set before", () => {
    const set = { type: "RetentionPolicySet", data: asked(policy) };
    expect(policyDecider.decide({ policy: null }, asked(policy))).toEqual([set]);
  });

  it.each(Object.keys(policy))("is set if only %s differs", (key) => {
    const changed = { ...policy, [key]: 7 };
    const set = { type: "RetentionPolicySet", data: asked(changed) };
    expect(policyDecider.decide({ policy }, asked(changed))).toEqual([set]);
  });
});
