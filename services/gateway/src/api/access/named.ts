/** Groups and roles by their names or ids; a name takes precedence. */
import { type AccessState, builtInRoles, type Group, type Role, roleOf } from "@trainyard/access";
import { Problem } from "../../http/problem.ts";

/** Returns the group. Throws a Problem of 404 if there is none. */
export function groupNamed({ groups }: AccessState, text: string): Group {
  const name = text.toLowerCase();
  const found =
    [...groups.values()].find((group) => group.name.toLowerCase() === name) ?? groups.get(text);
  if (found === undefined) throw none("group", text);
  return found;
}

/** Returns the role. Throws a Problem of 404 if there is none. */
export function roleNamed(state: AccessState, text: string): Role {
  const found = findRole(state, text);
  if (found === undefined) throw none("role", text);
  return found;
}

export const findRole = (state: AccessState, text: string): Role | undefined =>
  allRoles(state).find(({ name }) => name === text) ?? roleOf(state, text);

/** Returns all roles, the built-in ones first. */
export const allRoles = ({ roles }: AccessState): readonly Role[] => [
  ...builtInRoles.values(),
  ...[...roles.values()].toSorted((one, other) => one.name.localeCompare(other.name)),
];

function none(what: string, text: string): Problem {
  const detail = `there is no ${what} ${JSON.stringify(text.slice(0, 80))}`;
  return new Problem(404, `${what}_not_found`, detail);
}
