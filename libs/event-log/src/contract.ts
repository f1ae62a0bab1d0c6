/** The contract suite of the log: the test file of each adapter calls it. */
import { describe } from "vitest";
import { appendContract } from "./contract/appends.ts";
import { cursorContract } from "./contract/cursors.ts";
import type { ContractHarness } from "./contract/harness.ts";
import { historyContract } from "./contract/histories.ts";
import { leaseContract } from "./contract/leases.ts";
import { identityContract } from "./contract/identity.ts";
import { limitContract } from "./contract/limits.ts";
import { modelContract } from "./contract/model.ts";
import { pageContract } from "./contract/pages.ts";
import { chainContract, readingContract } from "./contract/reading.ts";

export { contractRoles, type ContractHarness, type LogUnderTest } from "./contract/harness.ts";

export function eventLogContract(name: string, harness: ContractHarness): void {
  describe(`event log, ${name}: append`, () => appendContract(harness));
  describe(`event log, ${name}: limits and owners`, () => limitContract(harness));
  describe(`event log, ${name}: identity of a commit`, () => identityContract(harness));
  describe(`event log, ${name}: cursors and parking`, () => cursorContract(harness));
  describe(`event log, ${name}: leases and fences`, () => leaseContract(harness));
  describe(`event log, ${name}: histories`, () => historyContract(harness));
  describe(`event log, ${name}: reading`, () => readingContract(harness));
  describe(`event log, ${name}: pages`, () => pageContract(harness));
  describe(`event log, ${name}: hash chain`, () => chainContract(harness));
  describe(`event log, ${name}: against a model`, () => modelContract(harness));
}
