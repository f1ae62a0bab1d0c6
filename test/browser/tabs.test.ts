import { expect, test } from "vitest";
import { useStage } from "./support/stage.ts";
import { tabsOutlastTheGateway } from "./tabs.ts";

const stage = useStage({ processes: true, restart: false });

test("ten tabs say that the gateway is away, and show what changed when it is back", async ({
  skip,
}) => {
  expect(await tabsOutlastTheGateway(stage, skip, 1_000)).toBe(10);
}, 600_000);
