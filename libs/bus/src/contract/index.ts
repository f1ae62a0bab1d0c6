/** The contract suite of the bus, for every adapter. */
import { describe } from "vitest";
import { commandContract } from "./commands.ts";
import { eventContract } from "./events.ts";
import type { OpenFixture } from "./fixture.ts";
import { messageContract } from "./messages.ts";

export type { BusFixture, OpenFixture } from "./fixture.ts";

export function busContract(adapter: string, open: OpenFixture): void {
  describe(`bus contract: ${adapter}`, () => {
    describe("commands", () => commandContract(open));
    describe("messages", () => messageContract(open));
    describe("events", () => eventContract(open));
  });
}
