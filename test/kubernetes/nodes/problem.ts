import process from "node:process";
import { podmanProblem } from "@trainyard/service-agent/testing/podman";
import { networkProblem } from "./pod-network.ts";

/** The reason why pods cannot run here; null if they can. With TRAINYARD_REQUIRE=podman the reason is an error. */
export function podsProblem(): string | null {
  const problem = podmanProblem() ?? networkProblem();
  const required = (process.env["TRAINYARD_REQUIRE"] ?? "").split(",").includes("podman");
  if (problem === null || !required) return problem;
  throw new Error(`TRAINYARD_REQUIRE names podman, but: ${problem}`);
}
