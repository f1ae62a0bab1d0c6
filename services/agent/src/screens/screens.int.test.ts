/** A late viewer of a task's terminal sees what a terminal shows that has read everything, with real programs. */
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toHolder } from "@trainyard/terminal";
import { notRun } from "@trainyard/testing/needs";
import { afterAll, describe, expect, test, vi } from "vitest";
import { AgentStage } from "../testing/agent-stage.ts";
import { newFolder, removeFolders, taskOf } from "../testing/examples.ts";
import { HolderClient } from "../testing/holder-client.ts";
import { newTerminal, type Shown, shownBy, ViewersTerminal, write } from "../testing/screen.ts";

afterAll(removeFolders);
vi.setConfig({ testTimeout: 120_000 });
const patient = { timeout: 60_000, interval: 100 };
const size = { columns: 80, rows: 24 };
const larger = { columns: 100, rows: 30 };

/** A shell with a first viewer, which reads everything. */
class Shell implements AsyncDisposable {
  readonly stage: AgentStage;
  readonly runDir: string;
  readonly first: HolderClient;
  readonly terminal: ViewersTerminal;

  private constructor(stage: AgentStage, runDir: string, first: HolderClient) {
    this.stage = stage;
    this.runDir = runDir;
    this.first = first;
    this.terminal = new ViewersTerminal(first);
  }

  static async start(): Promise<Shell> {
    const stage = await AgentStage.start();
    const launch = taskOf("shell", "", { environmentVariables: ["SHELL=/bin/sh"] });
    stage.platform.run(launch);
    await stage.platform.up(launch);
    const runDir = join(stage.folderOf(launch), "run");
    const hello = { open: "terminal", name: "main", ...size } as const;
    const first = await HolderClient.open(runDir, hello);
    await first.until(/[#$] $/);
    return new Shell(stage, runDir, first);
  }

  /** A viewer that connects now. */
  async late(): Promise<HolderClient> {
    const late = await HolderClient.open(this.runDir, { open: "terminal", name: "main", ...size });
    await vi.waitFor(() => expect(late.of("screen")).toHaveLength(1), patient);
    return late;
  }

  /** Waits until nothing more is written. */
  async quiet(): Promise<void> {
    let before = -1;
    await vi.waitFor(
      () => {
        const { outputBytes } = this.first;
        const isQuiet = outputBytes === before;
        before = outputBytes;
        if (!isQuiet) throw new Error("the terminal still writes");
      },
      { timeout: 60_000, interval: 400 },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.first[Symbol.dispose]();
    await this.stage[Symbol.asyncDispose]();
  }
}

/** Compares what a late viewer shows with the first, who has read all; both get what is written meanwhile. */
async function expectSame(shell: Shell): Promise<Shown> {
  using late = await shell.late();
  const terminal = new ViewersTerminal(late);
  return await vi.waitFor(async () => {
    const all = await shell.terminal.shown();
    expect(await terminal.shown()).toEqual(all);
    return all;
  }, patient);
}

/** The screen of a program in a PTY without any holder, with these keys typed and a size change. */
async function direct(command: readonly string[], keys: string): Promise<Shown> {
  const script = `import fcntl, os, pty, select, struct, sys, termios, time
pid, master = pty.fork()
if pid == 0:
    time.sleep(0.2)
    os.environ["TERM"] = "xterm-256color"
    os.execvp(sys.argv[2], sys.argv[2:])
sized = lambda columns, rows: fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
sized(${size.columns}, ${size.rows})
def read(seconds):
    while select.select([master], [], [], seconds)[0]:
        os.write(1, os.read(master, 65536))
read(0.8)
os.write(master, sys.argv[1].encode())
read(0.5)
os.write(1, b"\\0")
sized(${larger.columns}, ${larger.rows})
read(0.5)
os.kill(pid, 9)
`;
  const output = execFileSync("/usr/bin/python3", ["-c", script, keys, ...command]);
  const terminal = newTerminal(size);
  const [before, after] = [output.indexOf(0), output.indexOf(0) + 1];
  await write(terminal, output.subarray(0, before));
  terminal.resize(larger.columns, larger.rows);
  await write(terminal, output.subarray(after));
  return shownBy(terminal);
}

const has = (program: string): boolean => existsSync(`/usr/bin/${program}`);

describe.concurrent("a late viewer", () => {
  test("sees vim as a PTY shows it, also after a change of size, and another agent gives it the same", async ({
    skip,
  }) => {
    if (!has("vim")) notRun(skip, "vim");
    await using shell = await Shell.start();
    const file = join(newFolder(), "text.py");
    writeFileSync(
      file,
      Array.from({ length: 300 }, (_, n) => `def f${n}():  # "日本" é\n    return ${n}\n`).join(""),
    );
    const command = ["vim", "-u", "NONE", "-i", "NONE", "-n", "-c", "syntax on", file];
    const keys = "100Gzt:set number\r10jdd";
    shell.first.type(`exec ${command.map((part) => `'${part}'`).join(" ")}\n`);
    await shell.quiet();
    shell.first.type(keys);
    await shell.quiet();
    const early = await expectSame(shell);
    expect(early.buffer).toBe("alternate");
    shell.first.write(toHolder.size(larger));
    await shell.quiet();
    const shown = await expectSame(shell);
    expect(shown.rows).toHaveLength(larger.rows);
    expect(shown).toEqual(await direct(command, keys));
    await shell.stage.stopAgent();
    await expectSame(shell);
    await shell.stage.startAgent();
    await expectSame(shell);
  });

  test("sees top and its changes, resized meanwhile", async ({ skip }) => {
    if (!has("top")) notRun(skip, "top");
    await using shell = await Shell.start();
    shell.first.type("exec top -d 0.4\n");
    await shell.first.until("PID");
    await expectSame(shell);
    shell.first.write(toHolder.size(larger));
    await expectSame(shell);
  });

  test("sees the screen after 10 MiB of a full-screen program that never draws it again", async () => {
    await using shell = await Shell.start();
    shell.first.type(`exec python3 ${fullScreenProgram()} once\n`);
    await shell.first.until("finished");
    const shown = await expectSame(shell);
    expect(shown).toMatchObject({ buffer: "alternate", isCursorHidden: true });
    using late = await shell.late();
    expect(late.outputBytes).toBeLessThan(600_000);
  });

  test("sees the screen after 10 MiB that were written while there was no agent, once the program has drawn it again", async () => {
    await using shell = await Shell.start();
    await shell.stage.stopAgent();
    shell.first.type(`exec python3 ${fullScreenProgram()} again\n`);
    await shell.first.until("finished");
    // The modes of the terminal are not drawn again.
    const drawn = async (): Promise<void> => {
      using late = await shell.late();
      const terminal = new ViewersTerminal(late);
      await vi.waitFor(async () => {
        const { rows } = await terminal.shown();
        expect(rows).toEqual((await shell.terminal.shown()).rows);
        expect(rows.at(-1)).toContain("finished");
      }, patient);
    };
    await drawn();
    await shell.stage.startAgent();
    await drawn();
  });
});

/** A program that draws its screen, writes 10 MiB of changes, and draws all again after a change of size on demand. */
function fullScreenProgram(): string {
  const program = join(newFolder(), "full.py");
  writeFileSync(
    program,
    `import random, signal, sys, time
out = sys.stdout
random.seed(7)
cells = {}
def put(row, column, colour, text):
    cells[row, column] = "\\x1b[%d;%dH\\x1b[38;5;%dm%s" % (row, column, colour, text)
    return cells[row, column]
def draw(*_):
    out.write("\\x1b[44m\\x1b[2J" + "".join(cells.values()))
    out.flush()
out.write("\\x1b[?1049h\\x1b[?25l")
for row in range(1, 24):
    for column in range(1, 79, 2):
        put(row, column, row, ".")
draw()
written = 0
while written < ${10 * 1024 * 1024}:
    texts = ["é", "日", "x", "\\x1b(0q\\x1b(B"]
    text = put(random.randint(1, 23), random.randrange(1, 79, 2), random.randint(0, 255), random.choice(texts))
    out.write(text)
    written += len(text.encode())
draw()
if sys.argv[1] == "again":
    signal.signal(signal.SIGWINCH, draw)
put(24, 1, 7, "finished")
out.write(cells[24, 1])
out.flush()
while True:
    time.sleep(1)
`,
  );
  return program;
}
