/**
 * A startup-hook.sh beside the model code, as in Determined: it is read by a shell before the entrypoint, in its
 * folder.
 */

export const hookName = "startup-hook.sh";

/** Variables that the hook exports reach the entrypoint, and a command of it that fails ends the run with its code. */
const reading = `set -e; . ./${hookName}; set +e; exec "$@"`;
/** Hooks are written for bash; an image may have none. */
const starting = `if command -v bash >/dev/null 2>&1; then exec bash -c '${reading}' bash "$@"; fi; ${reading}`;

export function withHook(argv: readonly string[]): readonly string[] {
  return ["sh", "-c", starting, "sh", ...argv];
}
