/**
 * The headers that pass between a browser and the server of a task. The task gets no credential of the person, and its
 * answers have no effect beyond its own host.
 */
export type RawHeaders = readonly string[];
type Header = readonly [name: string, value: string];

/** Headers of one connection, which do not belong to the next one (RFC 9110, section 7.6.1). */
const ofConnection = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** The header by which a task's server knows that a request came through the gateway. */
export const secretHeader = "x-trainyard-task-secret";

/**
 * Headers that stay even where Connection names them: without its length, the body of a GET would be sent as the next
 * request.
 */
const neverOfConnection = new Set(["content-length", "host"]);

const notToTask = new Set(["authorization", "cookie", "expect", secretHeader]);

/**
 * Headers of an answer that a proxy in front of the platform obeys, or that a browser applies to more than one host.
 * X-Accel-* and X-Sendfile name files or limits of the proxy.
 */
const notFromTask = new Set([
  "alt-svc",
  "clear-site-data",
  "public-key-pins",
  "strict-transport-security",
  "x-sendfile",
]);

/** The names of the platform's own cookies. */
export const isOwnCookie = (name: string): boolean => /^(__host-)?trainyard_/i.test(name);

export type ToTask = {
  readonly secret: string;
  /** The scheme that the browser uses. */
  readonly scheme: "http" | "https";
};

/** Returns the headers of a browser's request as the task's server gets them. */
export function headersToTask(raw: RawHeaders, { secret, scheme }: ToTask): string[] {
  const headers = pairs(raw);
  const dropped = namedByConnection(headers);
  const cookies = headers
    .filter(([name]) => name.toLowerCase() === "cookie")
    .flatMap(([, value]) => value.split(";").map((one) => one.trim()))
    .filter((one) => one !== "" && !isOwnCookie(one.split("=")[0]?.trim() ?? ""));
  return [
    ...headers.flatMap(([name, value]) => {
      const lower = name.toLowerCase();
      const passes =
        !dropped.has(lower) && !notToTask.has(lower) && !lower.startsWith("x-forwarded-");
      return passes ? [name, value] : [];
    }),
    ...(cookies.length === 0 ? [] : ["Cookie", cookies.join("; ")]),
    ...["X-Forwarded-Proto", scheme, secretHeader, secret],
  ];
}

/** Returns the headers of a task's answer as the browser gets them. */
export function headersFromTask(raw: RawHeaders): string[] {
  const headers = pairs(raw);
  const dropped = namedByConnection(headers);
  const passed = headers.flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    if (dropped.has(lower) || notFromTask.has(lower) || lower.startsWith("x-accel-")) return [];
    if (lower === "set-cookie" && !isCookieOfHost(value)) return [];
    return [name, value];
  });
  // A second policy restricts the first one further, so that no page of another host shows the task in a frame.
  return [...passed, "Content-Security-Policy", "frame-ancestors 'self'"];
}

/** Whether a cookie of the task stays on its host and has no name of the platform. */
function isCookieOfHost(value: string): boolean {
  const [pair = "", ...attributes] = value.split(";");
  // Browsers treat a cookie without "=" as one without a name, whose value may look like another cookie.
  if (!pair.includes("=") || isOwnCookie(pair.split("=")[0]?.trim() ?? "")) return false;
  if (pair.split("=")[0]?.trim() === "") return false;
  return !attributes.some((one) => one.split("=")[0]?.trim().toLowerCase() === "domain");
}

function pairs(raw: RawHeaders): Header[] {
  return Array.from({ length: raw.length / 2 }, (_, at) => [
    raw[2 * at] ?? "",
    raw[2 * at + 1] ?? "",
  ]);
}

/** Headers that the header Connection names belong to the connection, too. */
function namedByConnection(headers: readonly Header[]): ReadonlySet<string> {
  const named = headers
    .filter(([name]) => name.toLowerCase() === "connection")
    .flatMap(([, value]) => value.split(",").map((one) => one.trim().toLowerCase()))
    .filter((name) => !neverOfConnection.has(name));
  return new Set([...ofConnection, ...named]);
}
