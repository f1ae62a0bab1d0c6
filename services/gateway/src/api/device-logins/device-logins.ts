import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { UnaryHandlers } from "../../http/request-context.ts";

export function deviceLoginHandlers(_backend: Backend) {
  const later = async (): Promise<never> => {
    throw new Problem(501, "internal", "not yet");
  };
  return {
    startDeviceLogin: later,
    finishDeviceLogin: later,
    getDeviceLogin: later,
    answerDeviceLogin: later,
  } satisfies Partial<UnaryHandlers>;
}
