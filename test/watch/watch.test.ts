import { expect, test } from "vitest";
import { troubledWatch } from "./troubled-watch.ts";

/** `npm run -s campaign -- watch` has 50 clients and each part away for 90 s. */
test("each client of Watch has what the lists have in the end, whatever dies", async () => {
  const said: string[] = [];
  const { violations } = await troubledWatch({
    seed: 5,
    clients: 5,
    troubles: [
      { part: "gateway", awayMs: 500 },
      { part: "nats", awayMs: 500, wipe: true },
    ],
    log: (line) => said.push(line),
  });
  expect(violations, said.join("\n")).toEqual([]);
}, 300_000);
