/** The agent's contract once more, with runs in containers. */
import { vi } from "vitest";
import { runtimeVariable } from "./testing/runtimes.ts";

vi.stubEnv(runtimeVariable, "podman");
await import("./service.test.ts");
