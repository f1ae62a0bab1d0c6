import type { Command } from "./launch.ts";

/**
 * The shell becomes the program, so both have the same pid. Before that it leaves a second process, which is no child
 * of the program: it reads the input until it ends, sends the program the signal $1, and kills it if it still lives
 * after $2 seconds. It does not hold the lock that is inherited as file 3.
 */
const script = `
exec 4<&0
(
  {
    read -r _
    kill -s "$1" $$
    while kill -0 $$ && [ "$2" -gt 0 ]; do
      sleep 1
      set -- "$1" $(($2 - 1))
    done
    kill -s KILL $$
  } <&4 4<&- 3<&- >/dev/null 2>&1 &
)
shift 2
exec "$@" 4<&- </dev/null
`;

/**
 * The command of a program that does not look at its input, such as a database server, so that it ends when its input
 * does: by the signal (a name without SIG), and after the limit by SIGKILL.
 */
export function endsWithInput<Started extends Pick<Command, "program" | "parameters">>(
  command: Started,
  signal: "INT" | "TERM",
  limitMs: number,
): Started {
  const { program, parameters } = command;
  const seconds = String(Math.ceil(limitMs / 1000));
  return {
    ...command,
    program: "/bin/sh",
    parameters: ["-c", script, "sh", signal, seconds, program, ...parameters],
  };
}
