/** The rights of callers, from roles and groups. The gateway and the feeds service ask the same functions. */
export { authidOf, isUser, localUser, userOf, isSameUser } from "./owners.ts";
export {
  builtInRoles,
  isPermission,
  onlyEverywhere,
  ownOf,
  permissionName,
  type PermissionName,
  permissionNames,
  type Role,
  type Sight,
} from "./permissions.ts";
export {
  adminsIn,
  allRights,
  grantsOf,
  noRights,
  type Owned,
  Rights,
  rightsOf,
  type TokenLimit,
} from "./rights.ts";
export {
  type AccessCommand,
  accessDecider,
  type AccessEvent,
  accessId,
  type AccessState,
  evolveAccess,
  everyone,
  type Grant,
  type Group,
  noAccess,
  roleOf,
} from "./state.ts";
