import { expect, test } from "vitest";
import { Cluster } from "../cluster/cluster.ts";
import { grantCommand } from "./grants.ts";

/** Returns the ports of the first forty runs, one after the other, in a cluster with this token key. */
function portsOf(tokenKey: string): readonly unknown[] {
  return Array.from({ length: 40 }, (_, n) => {
    const shares = [{ agent: "a1", slots: ["0"] }];
    const grant = { id: `${n + 1}.1#1`, shares, borrowed: 0 };
    const command = grantCommand(new Cluster(), grant, tokenKey, new Map());
    return command.kind === "grant" ? command.masterPort : null;
  });
}

test("two clusters on one host give different ports to runs with the same id", () => {
  const ports = portsOf("4f1c");
  expect(portsOf("4f1c")).toEqual(ports);
  const alike = portsOf("9a02").filter((port, n) => port === ports[n]);
  expect(alike.length).toBeLessThan(4);
});
