import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { UnaryHandlers } from "../../http/request-context.ts";

export function userHandlers(_backend: Backend) {
  const later = async (): Promise<never> => {
    throw new Problem(501, "internal", "not yet");
  };
  return {
    getMe: later,
    createUser: later,
    listUsers: later,
    getUser: later,
    updateUser: later,
    disableUser: later,
    enableUser: later,
    setPassword: later,
    resetPassword: later,
  } satisfies Partial<UnaryHandlers>;
}
