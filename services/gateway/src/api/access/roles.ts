import { type AccessState, builtInRoles, type Role, roleOf } from "@trainyard/access";
import type { Plain } from "@trainyard/contracts";
import type { Role as ShownRole } from "@trainyard/contracts/api";
import type { Backend } from "../../backend.ts";
import type { UnaryHandlers } from "../../http/request-context.ts";
import { idFor } from "../../people/commit.ts";
import type { ChangeAccess } from "./access.ts";
import { allRoles, findRole, roleNamed } from "./named.ts";

export function roleHandlers({ parts: { access } }: Backend, change: ChangeAccess) {
  return {
    listRoles: async () => ({ items: allRoles(await access.state()).map(shown) }),
    defineRole: async ({ role: name, description, permissions }, context) => {
      // A role with the name of a deleted one is another role, which nobody has.
      const idIn = (state: AccessState): string =>
        findRole(state, name)?.id ?? idFor("role", context);
      const { position, state } = await change((before) => {
        const known = findRole(before, name);
        const [role, own] = [idIn(before), known?.name ?? name];
        return [{ kind: "define role", role, name: own, description, permissions }];
      }, context);
      const role = roleOf(state, idIn(state));
      return { position, role: role && shown(role) };
    },
    deleteRole: async ({ role: named }, context) => {
      const { id } = roleNamed(await access.state(), named);
      const { position } = await change(() => [{ kind: "delete role", role: id }], context);
      return { position };
    },
  } satisfies Partial<UnaryHandlers>;
}

const shown = ({ id, name, description, permissions }: Role): Plain<ShownRole> => ({
  ...{ id, name, description, permissions },
  builtIn: builtInRoles.has(id),
});
