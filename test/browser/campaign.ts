import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { findChromium } from "./support/chromium.ts";
import { Stage } from "./support/cluster-stage.ts";
import { tabsOutlastTheGateway } from "./tabs.ts";

const awayMs = 90_000;

export const campaigns: readonly Campaign[] = [
  {
    name: "browser",
    description: "ten tabs of Chromium while the gateway is away for 90 s",
    async run({ log }) {
      const found = findChromium();
      if (found.program === null) return { violations: [`there is no ${found.why}`], summary: "" };
      const stage = new Stage();
      const violations: string[] = [];
      try {
        await stage.start(found.program, { slots: 2, processes: true, restart: false });
        log(`the gateway goes away for ${awayMs / 1_000} s`);
        const skip = (note: string): never => {
          throw new Error(note);
        };
        await tabsOutlastTheGateway(stage, skip, awayMs);
        await stage.clear();
      } catch (error) {
        violations.push(error instanceof Error ? error.message : String(error));
      } finally {
        await stage.stop();
      }
      return { violations, summary: "ten tabs, one outage" };
    },
  },
];
