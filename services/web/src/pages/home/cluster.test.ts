import { expect, test } from "vitest";
import { poolsOf } from "./cluster.ts";

const slot = (run: string) => ({ id: "0", device: "gpu", run });
const agent = (
  name: string,
  pool: string,
  state: string,
  runs: readonly string[],
  notPlaced = "",
) => ({
  name,
  pool,
  state,
  slots: runs.map(slot),
  notPlaced,
});

test("a pool has the slots of its agents, and lists the agents that get no runs", () => {
  const pools = poolsOf([
    agent("b", "gpu", "CONNECTED", ["1.1#1", ""]),
    agent("a", "gpu", "LOST", ["", "2.1#1"]),
    agent("c", "cpu", "CONNECTED", [""], "it is drained"),
    {
      ...agent("d", "cpu", "CONNECTED", []),
      distrust: { failures: 3, experiments: ["1", "2"], reason: "no data", untilMs: 9 },
    },
    {
      ...agent("e", "cpu", "CONNECTED", []),
      silence: { reason: "2 of 3 agents fell silent together", untilMs: 9 },
    },
    agent("gone", "cpu", "REMOVED", [""]),
  ]);
  expect(pools).toEqual([
    {
      pool: "cpu",
      slots: 1,
      used: 0,
      agents: 3,
      troubled: [
        { name: "c", why: "it is drained" },
        { name: "d", why: "its last 3 runs failed (no data)" },
        { name: "e", why: "does not report: 2 of 3 agents fell silent together" },
      ],
    },
    { pool: "gpu", slots: 3, used: 2, agents: 2, troubled: [{ name: "a", why: "lost" }] },
  ]);
});
