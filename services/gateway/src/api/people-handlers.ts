import type { Backend } from "../backend.ts";
import type { UnaryHandlers } from "../http/request-context.ts";
import { People } from "../people/people.ts";
import { accessHandlers } from "./access/access.ts";
import { deviceLoginHandlers } from "./device-logins/device-logins.ts";
import { type Door, sessionHandlers } from "./sessions/sessions.ts";
import { userHandlers } from "./users/users.ts";

/** Returns the handlers of the calls about users, their roles and their sign-ins. */
export function peopleHandlers(backend: Backend, door: Door) {
  const people = new People(backend);
  return {
    ...sessionHandlers(backend, door, people),
    ...userHandlers(backend, people),
    ...accessHandlers(backend, people),
    ...deviceLoginHandlers(backend),
  } satisfies Partial<UnaryHandlers>;
}
