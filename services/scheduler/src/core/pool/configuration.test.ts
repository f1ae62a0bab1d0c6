import { defaultSettings } from "@trainyard/scheduling";
import { describe, expect, test } from "vitest";
import { problemOf, settingsOfPool, shownSettings } from "./configuration.ts";

const quota = { workspace: "lab", slots: 4, borrow: false };
const quotasOf = (length: number) =>
  Array.from({ length }, (_, index) => ({ ...quota, workspace: `lab-${index}` }));
const scaling = { agentsMin: 0, agentsMax: 2, slotsPerAgent: 8, idleMs: 1, startingMs: 1 };

describe("a pool's configuration", () => {
  test.each([
    ["a policy", { policy: "best" }, 'the policy "best" is not known: it is one of priority'],
    ["a compat", { compat: "slurm" }, 'compat "slurm" is not known'],
    ["a backfill", { backfill: "some" }, 'backfill "some" is not known'],
    ["a fit", { fit: "tight" }, 'fit "tight" is not known'],
    ["a priority of 0", { defaultPriority: 0 }, "default_priority is 0, but it has to be from 1"],
    ["a priority of 100", { defaultPriority: 100 }, "default_priority is 100"],
    ["an ageing that is negative", { ageingMs: -1 }, "ageing_ms is -1"],
    ["an ageing that is no number", { ageingMs: Number.NaN }, "ageing_ms is NaN"],
    ["an ageing without end", { ageingMs: Number.POSITIVE_INFINITY }, "ageing_ms is Infinity"],
    ["an exemption that is no number", { preemptExemptMs: Number.NaN }, "preempt_exempt_ms is NaN"],
    ["a negative idle timeout", { idleTimeoutMs: -1 }, "idle_timeout_ms is -1"],
    ["a negative exemption", { preemptExemptMs: -1 }, "preempt_exempt_ms is -1"],
    ["no run without slots", { slotlessPerAgent: 0 }, "slotless_per_agent is 0, but it has to be"],
    ["half a run without slots", { slotlessPerAgent: 0.5 }, "slotless_per_agent is 0.5"],
    ["endless runs without slots", { slotlessPerAgent: 4e9 }, "slotless_per_agent is 4000000000"],
    ["half a priority", { defaultPriority: 1.5 }, "default_priority is 1.5"],
    ["a priority that is no number", { defaultPriority: Number.NaN }, "default_priority is NaN"],
    ["a quota of no number", { quotas: [{ ...quota, slots: Number.NaN }] }, "quota of lab is NaN"],
    [
      "slots of agents that are no number",
      { autoscaling: { ...scaling, slotsPerAgent: Number.NaN } },
      "slots_per_agent is NaN",
    ],
    [
      "agents that are no number",
      { autoscaling: { ...scaling, agentsMax: Number.NaN } },
      "agents_max is NaN",
    ],
    [
      "a start that is no number",
      { autoscaling: { ...scaling, startingMs: Number.NaN } },
      "starting_ms is NaN",
    ],
    ["two quotas of one workspace", { quotas: [quota, quota] }, "lab has two quotas"],
    ["a long description", { description: "x".repeat(1_001) }, "description has 1001 characters"],
    ["many quotas", { quotas: quotasOf(257) }, "257 quotas are more than 256"],
    [
      "a quota of a long name",
      { quotas: [{ ...quota, workspace: "x".repeat(256) }] },
      "workspace has 256 characters",
    ],
    ["a quota of no workspace", { quotas: [{ ...quota, workspace: "" }] }, "names no workspace"],
    [
      "fewer agents at most than at least",
      { autoscaling: { ...scaling, agentsMin: 3 } },
      "agents_min (3) is more than agents_max (2)",
    ],
    ["a negative time", { autoscaling: { ...scaling, idleMs: -5 } }, "idle_ms is -5"],
  ])("with %s is refused", (_, settings, sentence) => {
    const { policy = "priority", ...rest } = settings as { policy?: string };
    const problem = problemOf("gpus", { policy, settings: { quotas: [], ...rest } });
    expect(problem?.rejected).toBe("invalid_pool");
    expect(problem?.detail).toContain(sentence);
  });

  test("with texts and quotas at their limits is accepted", () => {
    const quotas = quotasOf(256).with(0, { ...quota, workspace: "x".repeat(255) });
    const settings = { description: "x".repeat(1_000), quotas };
    expect(problemOf("gpus", { policy: "priority", settings })).toBeNull();
  });

  test("with a name that no stream can have is refused", () => {
    expect(problemOf("a b", { policy: "priority" })?.rejected).toBe("invalid_pool");
    expect(problemOf("gpus", { policy: "round_robin" })).toBeNull();
  });

  test("without settings has all defaults", () => {
    expect(settingsOfPool({ policy: "priority" })).toEqual(defaultSettings);
  });

  test("is shown with all defaults filled in, and with its autoscaling", () => {
    const { policy: _, ...defaults } = defaultSettings;
    expect(shownSettings({ policy: "priority" })).toEqual(defaults);
    const settings = { quotas: [quota], autoscaling: scaling };
    expect(shownSettings({ policy: "priority", settings })).toEqual({ ...defaults, ...settings });
  });
});
