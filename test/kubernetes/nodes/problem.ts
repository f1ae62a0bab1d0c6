import { podmanProblem } from "@trainyard/service-agent/testing/podman";
import { networkProblem } from "./pod-network.ts";

/** The reason why pods cannot run here; null if they can. With TRAINYARD_REQUIRE=podman the reason is an error. */
export function podsProblem(): string | null {
  return podmanProblem() ?? networkProblem();
}
