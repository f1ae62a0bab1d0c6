import { type AccessState, authidOf, everyone, type Group } from "@trainyard/access";
import type { Plain } from "@trainyard/contracts";
import type { Group as ShownGroup } from "@trainyard/contracts/api";
import type { Backend } from "../../backend.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import { idFor } from "../../people/commit.ts";
import type { People } from "../../people/people.ts";
import type { ChangeAccess } from "./access.ts";
import { groupNamed } from "./named.ts";

export function groupHandlers(backend: Backend, people: People, change: ChangeAccess) {
  const { access, directory } = backend.parts;
  const shown = ({ id, name, fromClaim, members }: Group): Plain<ShownGroup> => ({
    ...{ id, name, fromClaim },
    members: [...members].map((user) => directory.nameOf(authidOf(user))).toSorted(),
  });
  const after = (id: string, position: string, state: AccessState) => {
    const group = state.groups.get(id);
    return { position, group: group && shown(group) };
  };
  const idsOf = async (names: readonly string[]): Promise<readonly string[]> =>
    (await people.findAll(names)).map(({ id }) => id);
  return {
    listGroups: async () => {
      const { groups } = await access.state();
      return { items: [...groups.values()].toSorted(byName).map(shown) };
    },
    createGroup: async ({ name, members }, context) => {
      const join = await idsOf(members);
      const group = idFor("group", context);
      const { position, state } = await change(
        () => [
          { kind: "create group", group, name, fromClaim: false },
          { kind: "change members", group, join, leave: [], fromClaim: false },
        ],
        context,
      );
      return after(group, position, state);
    },
    renameGroup: async ({ group: named, name }, context) => {
      const { id } = groupNamed(await access.state(), named);
      const { position, state } = await change(
        () => [{ kind: "rename group", group: id, name }],
        context,
      );
      return after(id, position, state);
    },
    changeGroupMembers: async ({ group: named, join: joining, leave: leaving }, context) => {
      const { id } = groupNamed(await access.state(), named);
      const [join, leave] = [await idsOf(joining), await idsOf(leaving)];
      const { position, state } = await change(
        () => [{ kind: "change members", group: id, join, leave, fromClaim: false }],
        context,
      );
      return after(id, position, state);
    },
    deleteGroup: async ({ group: named }, context: RequestContext) => {
      const { id } = groupNamed(await access.state(), named);
      const { position } = await change(() => [{ kind: "delete group", group: id }], context);
      return { position };
    },
  } satisfies Partial<UnaryHandlers>;
}

/** The group of all users is the first one. */
const byName = (one: Group, other: Group): number =>
  Number(other.id === everyone) - Number(one.id === everyone) || one.name.localeCompare(other.name);
