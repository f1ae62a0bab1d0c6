/** The runtimes of the agent's contract (service.int.test.ts): processes by default, or containers of Podman. */
import { afterAll, beforeAll, beforeEach } from "vitest";
import { needPodman, Podman, podmanProblem, testImage } from "./podman.ts";

export const runtimeVariable = "TY_TEST_RUNTIME";

export type RuntimeUnderTest = {
  /** The agent's variables. */
  readonly variables: Readonly<Record<string, string>>;
  /** Whether the pid of a program is known that ends at once; a container may be over before its pid was read. */
  readonly knowsEveryPid: boolean;
};

/** Sets up a test file's runtime; called at the head of the file. Skips its tests if the runtime is missing. */
export function useRuntime(): RuntimeUnderTest {
  if (process.env[runtimeVariable] !== "podman") return { variables: {}, knowsEveryPid: true };
  const stack = new AsyncDisposableStack();
  const variables: Record<string, string> = {};
  beforeAll(async () => {
    if (podmanProblem() !== null) return;
    const { socket } = stack.use(await Podman.start());
    variables["TRAINYARD_AGENT_RUNTIME"] = "podman";
    variables["TRAINYARD_AGENT_ENGINE_SOCKET"] = socket;
    variables["TRAINYARD_AGENT_IMAGE"] = testImage;
  });
  afterAll(() => stack.disposeAsync());
  beforeEach(({ skip }) => needPodman(skip));
  return { variables, knowsEveryPid: false };
}
