/**
 * A gate of `npm run check`. It reports its problems and the number of files it checked. A gate that checked no file
 * fails, whatever its tool reports.
 */
export type GateResult = {
  readonly ok: boolean;
  readonly seen: number;
  /** The tool's output, which a person needs to fix the problem; printed only when the gate fails. */
  readonly output: string;
};

export type Gate = {
  readonly name: string;
  readonly run: (files: readonly string[]) => Promise<GateResult>;
};

export type GateReport = GateResult & { readonly name: string; readonly ms: number };

/** Runs one gate; a gate that throws fails. */
export async function passGate(gate: Gate, files: readonly string[]): Promise<GateReport> {
  const start = performance.now();
  const took = (): number => performance.now() - start;
  try {
    const result = await gate.run(files);
    if (result.ok && result.seen === 0) {
      const output = "it saw no files, so it checked nothing\n";
      return { ...result, ok: false, output, name: gate.name, ms: took() };
    }
    return { ...result, name: gate.name, ms: took() };
  } catch (error) {
    const output = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { ok: false, seen: 0, output: `${output}\n`, name: gate.name, ms: took() };
  }
}

/** Runs the gates in order, at most `width` at a time, and reports each one as it ends. */
export async function passGates(
  gates: readonly Gate[],
  files: readonly string[],
  width: number,
  tell: (report: GateReport) => void,
): Promise<readonly GateReport[]> {
  const waiting = [...gates];
  const reports: GateReport[] = [];
  const lane = async (): Promise<void> => {
    for (let gate = waiting.shift(); gate !== undefined; gate = waiting.shift()) {
      const report = await passGate(gate, files);
      reports.push(report);
      tell(report);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return reports;
}
