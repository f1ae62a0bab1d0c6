/**
 * The operations of a custom search's client, and the checks of a batch that do not depend on the search: each
 * operation needs a unique id and one action.
 */
import { encodedBytes, type Plain } from "@trainyard/contracts";
import type {
  SearchOperation as SearchOperationMessage,
  SearchOperationResult,
} from "@trainyard/contracts/events";
import { type Json, sortedKeys } from "@trainyard/experiment-config";
import { assert, type FieldProblem, type Rejection, reject } from "@trainyard/kernel";
import { hashOf } from "../hash.ts";
import { searchLimits } from "../limits.ts";

export type SearchOperation = Plain<SearchOperationMessage>;
export type OperationResult = Plain<SearchOperationResult>;

/** The action of one operation; each operation of a valid batch has one. */
export type Wish = Exclude<SearchOperation["operation"], { case: undefined }>;
export type WishOf<Case extends Wish["case"]> = Extract<Wish, { case: Case }>["value"];

export function wishOf({ operation }: SearchOperation): Wish {
  assert(operation.case !== undefined, "an operation that is recorded wants something");
  return operation;
}

const idPattern = /^[\x21-\x7e]{1,100}$/;

/** Returns the first error of a batch that does not depend on the search, or null. */
export function malformed(operations: readonly SearchOperation[]): Rejection | null {
  const { operationsPerPostMax, operationBytesPerPostMax } = searchLimits;
  if (operations.length === 0) return reject("invalid_request", "the batch has no operations");
  if (operations.length > operationsPerPostMax) {
    return reject(
      "invalid_request",
      `the batch has ${operations.length} operations; at most ${operationsPerPostMax} may be posted at once`,
    );
  }
  const bytes = encodedBytes({ type: "OperationsPosted", data: { operations: [...operations] } });
  if (bytes > operationBytesPerPostMax) {
    const most = `${operationBytesPerPostMax / 1024} KiB`;
    return reject(
      "invalid_request",
      `the operations take ${bytes} bytes in an event; at most ${most} may be posted at once`,
    );
  }
  const seen = new Set<string>();
  for (const [index, operation] of operations.entries()) {
    const problem = wrongWith(operation, seen);
    if (problem !== null) return refused("invalid_request", index, operation, problem);
    seen.add(operation.id);
  }
  return null;
}

function wrongWith({ id, operation }: SearchOperation, seen: ReadonlySet<string>): string | null {
  if (!idPattern.test(id)) return "its id must be 1 to 100 visible ASCII characters";
  if (seen.has(id)) return "another operation of this request has the same id";
  switch (operation.case) {
    case undefined:
      return "it has no action: give propose, stop, suspend, resume, finish or progress";
    case "propose":
    case "resume": {
      const { target, stopAtTarget } = operation.value;
      if (target === undefined) {
        return stopAtTarget ? "stop_at_target needs a target" : null;
      }
      return Number.isFinite(target) && target > 0
        ? null
        : `its target must be a number above 0, not ${target}`;
    }
    case "progress": {
      const { progress } = operation.value;
      return progress >= 0 && progress <= 1
        ? null
        : `progress must be from 0 to 1, not ${progress}`;
    }
    case "stop":
    case "suspend":
    case "finish": {
      const { length } = operation.value.reason;
      const most = searchLimits.reasonCharactersMax;
      return length <= most
        ? null
        : `its reason has ${length} characters; at most ${most} are kept`;
    }
    default:
      return null;
  }
}

/** Rejects an operation, which is named by its index, from 0, and its id. */
export function refused(
  code: string,
  index: number,
  { id }: SearchOperation,
  detail: string,
  problems: readonly FieldProblem[] = [{ path: "", detail }],
): Rejection {
  const at = `operations[${index}]`;
  const named = problems.map((problem) => ({
    path: problem.path === "" ? at : `${at}.${problem.path}`,
    detail: problem.detail,
  }));
  return reject(code, `operation ${JSON.stringify(id)}: ${detail}`, named);
}

/** Returns a hash that distinguishes a repeat from another operation under the same id. */
export function digestOf({ operation }: SearchOperation): number {
  // A message is plain JSON; JSON.stringify leaves out unset fields, which are undefined.
  return hashOf(JSON.stringify(sortedKeys(JSON.parse(JSON.stringify(operation)) as Json)));
}
