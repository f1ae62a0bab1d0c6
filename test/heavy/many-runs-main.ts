/** Many runs behind one address, as a process of its own: each reports and asks for its signals, in turn. */
import { setTimeout as delay } from "node:timers/promises";

export type ManyRunsOrder = {
  /** The addresses of the gateway and of metrics. */
  readonly url: string;
  readonly reports: string;
  readonly runs: readonly { readonly run: string; readonly token: string }[];
  readonly reportsPerSecond: number;
};

export type ManyRunsReport = {
  /** The number of calls that were answered with 200. */
  readonly answered: number;
  /** The other answers by call and status. */
  readonly refused: Readonly<Record<string, number>>;
};

const timeoutMs = 30_000;

let isOver = false;
let answered = 0;
const refused: Record<string, number> = {};
const open = new Set<Promise<void>>();

process.on("message", (order: ManyRunsOrder | "stop") => {
  if (order !== "stop") return void send(order);
  isOver = true;
  void Promise.all(open).then(() => process.send?.({ answered, refused } satisfies ManyRunsReport));
});
process.once("disconnect", () => process.exit(0));

async function send({ url, reports, runs, reportsPerSecond }: ManyRunsOrder): Promise<void> {
  const pauseMs = 1_000 / reportsPerSecond;
  let dueMs = performance.now();
  for (let turn = 0; !isOver; turn += 1) {
    const { run, token } = runs[turn % runs.length] ?? { run: "", token: "" };
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const of = `runs/${encodeURIComponent(run)}`;
    const stepsCompleted = 1 + Math.floor(turn / runs.length);
    const one = { key: `0-${stepsCompleted}`, group: "training", stepsCompleted };
    const body = JSON.stringify({
      reports: [{ ...one, atMs: Date.now(), metrics: { loss: 1 / stepsCompleted } }],
    });
    count("report", fetch(`${reports}/api/v1/${of}/reports`, { method: "POST", headers, body }));
    count("signals", fetch(`${url}/api/v1/${of}/signals?waitMs=0`, { headers }));
    dueMs += pauseMs;
    await delay(Math.max(0, dueMs - performance.now()));
  }
}

function count(call: string, asked: Promise<Response>): void {
  const late = AbortSignal.timeout(timeoutMs);
  const counted = asked
    .then(async (response) => {
      await response.arrayBuffer();
      return response.status;
    })
    .catch(() => 0)
    .then((status) => {
      if (status === 200 && !late.aborted) answered += 1;
      else refused[`${call} ${status}`] = (refused[`${call} ${status}`] ?? 0) + 1;
    })
    .finally(() => open.delete(counted));
  open.add(counted);
}
