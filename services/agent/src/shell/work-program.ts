/**
 * Starts the programs of the SDK that save and restore the folder of a task (`trainyard._work`), as the run's user:
 * they can read and write only what the run can. They end when the agent ends, since it holds their stdin open.
 */
import { once } from "node:events";
import { limits } from "../limits.ts";
import type { Owner } from "../state/run-user.ts";
import { type SdkHost, startSdkProgram } from "./sdk-program.ts";

export type ProgramEnd = {
  /** Null for a program that was killed. */
  readonly status: number | null;
  readonly stdout: string;
  /** The last line on stderr, or another reason why there is no result. */
  readonly why: string;
};

export type ProgramHost = SdkHost & { readonly owner: Owner | null };

/** The exit status of a program that no attempt can help, as in `_uploader_status.py`. */
export const refusedStatus = 65;
/** The exit status for a save beyond the limits, as in `_restore.py`. */
export const tooLargeStatus = 66;

/** The program is killed once the signal aborts. */
export async function runProgram(
  name: "_save" | "_restore",
  order: object,
  host: ProgramHost,
  signal: AbortSignal,
): Promise<ProgramEnd> {
  const child = startSdkProgram(`trainyard._work.${name}`, host, host.owner, signal);
  let stdout = "";
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    if (stdout.length > limits.workResultCharactersMax) child.kill("SIGKILL");
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-limits.saidCharsMax);
  });
  // A program that fails early does not read its order.
  child.stdin.on("error", () => undefined);
  child.stdin.write(`${JSON.stringify(order)}\n`);
  try {
    const [status] = (await once(child, "close")) as [number | null];
    const why = said.trim().split("\n").at(-1) || `it ended with status ${status}`;
    return { status, stdout, why };
  } catch (error) {
    return {
      status: null,
      stdout: "",
      why: error instanceof Error ? error.message : String(error),
    };
  } finally {
    child.stdin.destroy();
  }
}
