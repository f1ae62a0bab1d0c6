/** The credentials of a registry, from a file in the format of `docker login` and `podman login`. */
import { readFileSync } from "node:fs";

export type RegistryAuth = {
  readonly username: string;
  readonly password: string;
  readonly serveraddress: string;
};

const dockerHub = ["docker.io", "index.docker.io", "https://index.docker.io/v1/"];

/** The registry of `localhost/a`, `registry.example:5000/a/b:1` or `a/b` (which is Docker Hub's). */
export function registryOf(image: string): string {
  const [first = "", ...rest] = image.split("/");
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  return isHost ? first : "docker.io";
}

/** Null if the file has no credentials for the image's registry. Throws if it cannot be read. */
export function authFor(image: string, file: string): RegistryAuth | null {
  const { auths = {} } = readAuthFile(file);
  const registry = registryOf(image);
  const names = dockerHub.includes(registry) ? dockerHub : [registry, `https://${registry}`];
  // The most specific entry wins: podman stores credentials of single repositories.
  const paths = pathsOf(image).filter((path) => path.startsWith(`${registry}/`));
  for (const name of [...paths, ...names]) {
    const { auth, username, password } = auths[name] ?? {};
    if (username !== undefined && password !== undefined) {
      return { username, password, serveraddress: registry };
    }
    if (auth === undefined || auth === "") continue;
    const text = Buffer.from(auth, "base64").toString("utf8");
    const colon = text.indexOf(":");
    if (colon < 0) continue;
    return {
      username: text.slice(0, colon),
      password: text.slice(colon + 1),
      serveraddress: registry,
    };
  }
  return null;
}

type AuthFile = {
  readonly auths?: Readonly<
    Record<
      string,
      { readonly auth?: string; readonly username?: string; readonly password?: string }
    >
  >;
};

function readAuthFile(file: string): AuthFile {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as AuthFile;
  } catch (error) {
    // The parser's message is left out, since it quotes the file.
    const why = error instanceof SyntaxError ? "it is not JSON" : (error as Error).message;
    throw new Error(`the registry credentials in ${file} cannot be read: ${why}`, { cause: error });
  }
}

/** The image's name without its tag, and its parents, the longest first. */
function pathsOf(image: string): readonly string[] {
  const parts = image.replace(/(@[^/]*|:[^/]*)$/, "").split("/");
  return parts.map((_, index) => parts.slice(0, parts.length - index).join("/"));
}
