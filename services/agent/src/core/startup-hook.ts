/**
 * A startup-hook.sh beside the model code, as in Determined: a shell sources it before the entrypoint, in the code's
 * folder.
 */

export const hookName = "startup-hook.sh";

/**
 * Variables that the hook exports reach the entrypoint, and a failing command of the hook ends the run with its code.
 */
const reading = `set -e; . ./${hookName}; set +e; exec "$@"`;
/** Hooks are written for bash, but an image may lack bash. */
const starting = `if command -v bash >/dev/null 2>&1; then exec bash -c '${reading}' bash "$@"; fi; ${reading}`;

export function withHook(argv: readonly string[]): readonly string[] {
  return ["sh", "-c", starting, "sh", ...argv];
}
