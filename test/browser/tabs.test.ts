import { expect } from "vitest";
import { testsOn } from "./support/stage.ts";
import { tabsOutlastTheGateway } from "./tabs.ts";

const test = testsOn({ slots: 2, processes: true, restart: false });

test("ten tabs report that the gateway is unavailable, and show the changes when it is back", async ({
  skip,
  stage,
}) => {
  expect(await tabsOutlastTheGateway(stage, skip, 1_000)).toBe(10);
}, 600_000);
