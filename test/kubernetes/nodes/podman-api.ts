/**
 * Podman's own API on its socket: the containers of pods, which Docker's API cannot describe (a network by its path).
 */
import { Agent, type IncomingMessage, request } from "node:http";
import { type Executed, execute } from "./exec.ts";

const requestMs = 60_000;

export type ContainerSpec = Readonly<Record<string, unknown>> & { readonly name: string };

export type ImageFacts = {
  readonly id: string;
  readonly digest: string;
  readonly user: string;
  readonly stopSignal: string;
};

export type ContainerFacts = {
  readonly running: boolean;
  readonly exitCode: number;
  readonly outOfMemory: boolean;
  readonly startedAt: string;
  readonly finishedAt: string;
};

export class PodmanApi {
  readonly #socket: string;
  readonly #agent = new Agent({ keepAlive: true });
  #runtime: string | null = null;

  constructor(socket: string) {
    this.#socket = socket;
  }

  /** Returns null if the image is not in the local storage. */
  async image(name: string): Promise<ImageFacts | null> {
    const { status, body } = await this.#call("GET", `/images/${encodeURIComponent(name)}/json`);
    if (status === 404) return null;
    const facts = ok(status, body) as {
      Id: string;
      Digest: string;
      User?: string;
      Config?: { StopSignal?: string };
    };
    return {
      id: facts.Id,
      digest: facts.Digest,
      user: facts.User ?? "",
      stopSignal: facts.Config?.StopSignal || "SIGTERM",
    };
  }

  /** Returns the id of the new container. */
  async create(spec: ContainerSpec): Promise<string> {
    const { status, body } = await this.#call("POST", "/containers/create", spec);
    return (ok(status, body) as { Id: string }).Id;
  }

  async start(id: string): Promise<void> {
    const { status, body } = await this.#call("POST", `/containers/${id}/start`);
    ok(status, body);
  }

  /** Returns null for a container that is gone. */
  async inspect(id: string): Promise<ContainerFacts | null> {
    const { status, body } = await this.#call("GET", `/containers/${id}/json`);
    if (status === 404) return null;
    const { State: state } = ok(status, body) as {
      State: {
        Running: boolean;
        ExitCode: number;
        OOMKilled: boolean;
        StartedAt: string;
        FinishedAt: string;
      };
    };
    return {
      running: state.Running,
      exitCode: state.ExitCode,
      outOfMemory: state.OOMKilled,
      startedAt: state.StartedAt,
      finishedAt: state.FinishedAt,
    };
  }

  /** Resolves when the container has ended, which has no time limit of its own. */
  async ended(id: string): Promise<void> {
    const path = `/containers/${id}/wait?condition=exited&interval=100ms`;
    const { status, body } = await this.#call("POST", path, undefined, null);
    if (status !== 404) ok(status, body);
  }

  /** A container that has ended or is gone is no error. */
  async kill(id: string, signal: string): Promise<void> {
    const { status, body } = await this.#call("POST", `/containers/${id}/kill?signal=${signal}`);
    if (status !== 404 && status !== 409 && status !== 500) ok(status, body);
    if (status === 500 && (await this.inspect(id))?.running === true) ok(status, body);
  }

  async remove(id: string): Promise<void> {
    const path = `/containers/${id}?force=true&v=true&timeout=0`;
    const { status, body } = await this.#call("DELETE", path);
    if (status !== 404) ok(status, body);
  }

  /** Runs a program in the container, and returns its exit code and its output. */
  async exec(id: string, argv: readonly string[], signal: AbortSignal): Promise<Executed> {
    this.#runtime ??= await this.#runtimeOf(id);
    return await execute(this.#runtime, id, argv, signal);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #runtimeOf(id: string): Promise<string> {
    const { status, body } = await this.#call("GET", `/containers/${id}/json`);
    return (ok(status, body) as { OCIRuntime: string }).OCIRuntime;
  }

  async #call(
    method: string,
    path: string,
    body?: object,
    signal: AbortSignal | null = AbortSignal.timeout(requestMs),
  ): Promise<{ readonly status: number; readonly body: Buffer }> {
    const text = body === undefined ? "" : JSON.stringify(body);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(text),
      };
      const full = { socketPath: this.#socket, path: `/v4.0.0/libpod${path}`, method, headers };
      request({ ...full, ...(signal && { signal }), agent: this.#agent }, resolve)
        .on("error", reject)
        .end(text);
    });
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    return { status: answer.statusCode ?? 0, body: Buffer.concat(chunks) };
  }
}

function ok(status: number, body: Buffer): unknown {
  const text = body.toString();
  if (status < 300) return text === "" ? null : (JSON.parse(text) as unknown);
  throw new Error(messageIn(text) ?? `Podman answered ${status}`);
}

function messageIn(text: string): string | null {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? null;
  } catch {
    return text === "" ? null : text;
  }
}
