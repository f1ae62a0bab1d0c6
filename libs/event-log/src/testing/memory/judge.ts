import { categoryOfStream, type LogRoles } from "../../owners.ts";
import type { AppendRequest, AppendResult } from "../../port.ts";
import { refused } from "../../refusal.ts";
import { isForward, type MemoryStore } from "./store.ts";

/** The permissions of each role; without a table every role may do everything. */
export class Permissions {
  readonly #roles: LogRoles | undefined;
  readonly role: string;

  constructor(roles: LogRoles | undefined, role: string) {
    this.#roles = roles;
    this.role = role;
  }

  /** Returns the source of this role's events; undefined without a table of owners. */
  get source(): string | undefined {
    if (this.#roles === undefined) return undefined;
    const consumers = Object.entries(this.#roles.consumers).filter(
      ([, role]) => role === this.role,
    );
    const [first] = consumers.map(([name]) => name).sort();
    return `/trainyard/${first ?? this.role}`;
  }

  category(name: string): boolean {
    return this.#roles === undefined || this.#roles.categories[name] === this.role;
  }

  consumer(name: string): boolean {
    return this.#roles === undefined || this.#roles.consumers[name] === this.role;
  }
}

function ownerRefusal(request: AppendRequest, may: Permissions): AppendResult | undefined {
  const stranger = request.writes.find(({ stream }) => !may.category(categoryOfStream(stream)));
  if (stranger !== undefined) {
    return refused("not_owner", `${may.role} does not own ${stranger.stream}`);
  }
  const { cursor } = request;
  if (cursor !== undefined && !may.consumer(cursor.consumer)) {
    return refused("not_owner", `${may.role} does not own the consumer ${cursor.consumer}`);
  }
  return undefined;
}

/** Returns why a commit is rejected, with the checks in the database's order; undefined if it is accepted. */
export function judge(
  store: MemoryStore,
  may: Permissions,
  request: AppendRequest,
): AppendResult | undefined {
  const repeat = store.repeatOf(request, may.consumer(request.cursor?.consumer ?? ""));
  if (repeat !== undefined) return repeat;
  const stranger = ownerRefusal(request, may);
  if (stranger !== undefined) return stranger;
  const { cursor, fence } = request;
  if (cursor !== undefined && cursor.position > store.head) {
    const detail = `a cursor at ${cursor.position} is beyond the head, ${store.head}`;
    return refused("invalid", detail);
  }
  if (fence !== undefined && !store.holds(fence)) {
    return { kind: "stale_fence", lease: fence.lease, epoch: fence.epoch };
  }
  if (cursor !== undefined && (cursor.unpark ?? []).length === 0) {
    const now = store.cursor(cursor.consumer, cursor.partition);
    if (!isForward(now, cursor)) return { kind: "cursor_behind", ...now };
  }
  for (const { stream, expectedVersion } of [...request.writes, ...request.guards]) {
    const actualVersion = store.version(stream);
    if (actualVersion !== expectedVersion) {
      return { kind: "conflict", stream, expectedVersion, actualVersion };
    }
  }
  return undefined;
}
