/** Runs the agent's contract with containers. */
import { vi } from "vitest";
import { runtimeVariable } from "./testing/runtimes.ts";

vi.stubEnv(runtimeVariable, "podman");
await import("./service.int.test.ts");
