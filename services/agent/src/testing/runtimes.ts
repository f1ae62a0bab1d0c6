/** What the agent's contract (service.test.ts) runs on: processes, or, in the file that asks for it, containers of Podman. */
import { needPodman, Podman, podmanProblem, testImage } from "./podman.ts";

export const runtimeVariable = "TY_TEST_RUNTIME";

export interface RuntimeUnderTest extends AsyncDisposable {
  /** For the start of each test: skips it where the runtime is not here. */
  need(skip: (note: string) => never): void;
  /** The agent's variables. */
  start(): Promise<Readonly<Record<string, string>>>;
}

export function runtimeUnderTest(): RuntimeUnderTest {
  return process.env[runtimeVariable] === "podman" ? podman() : processes();
}

function processes(): RuntimeUnderTest {
  return { need() {}, start: async () => ({}), async [Symbol.asyncDispose]() {} };
}

function podman(): RuntimeUnderTest {
  const stack = new AsyncDisposableStack();
  return {
    need: needPodman,
    async start() {
      if (podmanProblem() !== null) return {};
      const { socket } = stack.use(await Podman.start());
      return {
        TRAINYARD_AGENT_RUNTIME: "podman",
        TRAINYARD_AGENT_ENGINE_SOCKET: socket,
        TRAINYARD_AGENT_IMAGE: testImage,
      };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
