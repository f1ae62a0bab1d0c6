import { expect, test } from "vitest";
import { troubledWatch } from "./troubled-watch.ts";

/** `npm run -s campaign -- watch` has 50 clients, and each part down for 90 s. */
test("each client of Watch has the content of the lists in the end, whatever process dies", async () => {
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
