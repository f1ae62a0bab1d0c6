import { expect, test } from "vitest";
import { endAway } from "./end-away.ts";

const slow = 1_200_000;
const stored = { checkpoints: ["COMPLETED"], downloaded: '{"step": 7}' };

test(
  "a run ends while the gateway is away: its last checkpoint is complete afterwards, and can be downloaded",
  async () => {
    const farewell = await endAway("gateway", 0);
    expect(farewell).toEqual({ state: "COMPLETED", starts: ["starts at 0"], ...stored });
  },
  slow,
);

test(
  "a run ends while PostgreSQL is away: its last checkpoint is complete afterwards, and can be downloaded",
  async () => {
    const farewell = await endAway("postgres", 0);
    expect(farewell).toEqual({ state: "COMPLETED", starts: ["starts at 0"], ...stored });
  },
  slow,
);

test(
  "a run fails while the gateway is away: the next one waits for its last checkpoint, and starts from it",
  async () => {
    const farewell = await endAway("gateway", 3);
    const starts = ["starts at 0", "starts at 7"];
    expect(farewell).toEqual({ state: "COMPLETED", starts, ...stored });
  },
  slow,
);
