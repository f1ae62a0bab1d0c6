/** Tests with the signatures of Google's examples, and with malformed tokens. */
import { sign } from "node:crypto";
import { expect, test } from "vitest";
import { type GcsUser, newAccount, userOf, userOfToken, userOfUrl } from "./authorise.ts";

/**
 * The account of the conformance tests of Google's client libraries (conformance-test/test-data/v4SignedUrl.json of
 * nodejs-storage).
 */
const published: GcsUser = {
  email: "test-iam-credentials@dummy-project-id.iam.gserviceaccount.com",
  publicKey: `-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEArD8zIqyKLbX0Nq8o0Jj1
qHEhHhqO3+0OP7TEFx5Vxc6PdwBoFNrfnJRI/S+ZaDYS1avr5Pqpp8g8+UNOMvI1
VsjGM8xjTaxkVv8mmKp6pSmQstTt25pzY1exA2wv4xNWSwWNFNx2kh35+kvTQ/DF
3YA9P7pUU1sKur1PP8OoubWLFO59iy5UE5dX0O/3pjvZ2HAhSXsx2VWtB5nlrHR8
FrKJNLJMEGEDSMz9yRfQaUeYCU9oDYHuiqKQ3rCXi6C82l+3FJw5/ggJ5y7iw8ME
rCFSslcYQRbBVz6ZYKWkEcJhs8BG3/16bfaqNusNlDIJ99I7DmipUngF/HEulYhf
rQIDAQAB
-----END PUBLIC KEY-----`,
};
const publishedAtMs = Date.UTC(2019, 1, 1, 9);

const examples = [
  {
    description: "Simple GET",
    method: "GET",
    signed: "host",
    headers: {},
    signature:
      "95e6a13d43a1d1962e667f17397f2b80ac9bdd1669210d5e08e0135df9dff4e56113485dbe429ca2266487b9d1796ebdee2d7cf682a6ef3bb9fbb4c351686fba90d7b621cf1c4eb1fdf126460dd25fa0837dfdde0a9fd98662ce60844c458448fb2b352c203d9969cb74efa4bdb742287744a4f2308afa4af0e0773f55e32e92973619249214b97283b2daa14195244444e33f938138d1e5f561088ce8011f4986dda33a556412594db7c12fc40e1ff3f1bedeb7a42f5bcda0b9567f17f65855f65071fabb88ea12371877f3f77f10e1466fff6ff6973b74a933322ff0949ce357e20abe96c3dd5cfab42c9c83e740a4d32b9e11e146f0eb3404d2e975896f74",
  },
  {
    description: "Simple PUT",
    method: "PUT",
    signed: "host",
    headers: {},
    signature:
      "8adff1d4285739e31aa68e73767a46bc5511fde377497dbe08481bf5ceb34e29cc9a59921748d8ec3dd4085b7e9b7772a952afedfcdaecb3ae8352275b8b7c867f204e3db85076220a3127a8a9589302fc1181eae13b9b7fe41109ec8cdc93c1e8bac2d7a0cc32a109ca02d06957211326563ab3d3e678a0ba296e298b5fc5e14593c99d444c94724cc4be97015dbff1dca377b508fa0cb7169195de98d0e4ac96c42b918d28c8d92d33e1bd125ce0fb3cd7ad2c45dae65c22628378f6584971b8bf3945b26f2611eb651e9b6a8648970c1ecf386bb71327b082e7296c4e1ee2fc0bdd8983da80af375c817fb1ad491d0bc22c0f51dba0d66e2cffbc90803e47",
  },
  {
    description: "POST for resumable uploads",
    method: "POST",
    signed: "host;x-goog-resumable",
    headers: { "x-goog-resumable": "start" },
    signature:
      "4a6d39b23343cedf4c30782aed4b384001828c79ffa3a080a481ea01a640dea0a0ceb58d67a12cef3b243c3f036bb3799c6ee88e8db3eaf7d0bdd4b70a228d0736e07eaa1ee076aff5c6ce09dff1f1f03a0d8ead0d2893408dd3604fdabff553aa6d7af2da67cdba6790006a70240f96717b98f1a6ccb24f00940749599be7ef72aaa5358db63ddd54b2de9e2d6d6a586eac4fe25f36d86fc6ab150418e9c6fa01b732cded226c6d62fc95b72473a4cc55a8257482583fe66d9ab6ede909eb41516a8690946c3e87b0f2052eb0e97e012a14b2f721c42e6e19b8a1cd5658ea36264f10b9b1ada66b8ed5bf7ed7d1708377ac6e5fe608ae361fb594d2e5b24c54",
  },
  {
    description: "Headers should be trimmed",
    method: "GET",
    signed: "collapsed;host;leading;trailing",
    headers: { leading: "    xyz", trailing: "abc    ", collapsed: "abc    def" },
    signature:
      "1839511d6238d9ac2bbcbba8b23515b3757db35dfa7b8f9bc4b8b4aa270224df747c812526f1a3bcf294d67ed84cd14e074c36bc090e0a542782934a7c925af4a5ea68123e97533704ce8b08ccdf5fe6b412f89c9fc4de243e29abdb098382c5672188ee3f6fef7131413e252c78e7a35658825ad842a50609e9cc463731e17284ff7a14824c989f87cef22fb99dfec20cfeed69d8b3a08f00b43b8284eecd535e50e982b05cd74c5750cd5f986cfc21a2a05f7f3ab7fc31bd684ed1b823b64d29281e923fc6580c49005552ca19c253de087d9d2df881144e44eda40965cfdb4889bf3a35553c9809f4ed20b8355be481b92b9618952b6a04f3017b36053e15",
  },
] as const;

const requestOf = ({ method, signed, headers, signature }: (typeof examples)[number]) => ({
  method,
  path: "/test-bucket/test-object",
  query: new Map([
    ["X-Goog-Algorithm", "GOOG4-RSA-SHA256"],
    ["X-Goog-Credential", `${published.email}/20190201/auto/storage/goog4_request`],
    ["X-Goog-Date", "20190201T090000Z"],
    ["X-Goog-Expires", "10"],
    ["X-Goog-SignedHeaders", signed],
    ["X-Goog-Signature", signature],
  ]),
  headers: { host: "storage.googleapis.com", ...headers },
});

test.each(examples)("the published signature is accepted: $description", (example) => {
  expect(userOfUrl(requestOf(example), [published], publishedAtMs)).toBe(published);
});

test("a published address that was changed, or has expired, is refused", () => {
  const request = requestOf(examples[0]);
  const at =
    (changed: object, nowMs = publishedAtMs) =>
    () =>
      userOfUrl({ ...request, ...changed }, [published], nowMs);
  expect(at({ method: "PUT" })).toThrow("does not match");
  expect(at({ path: "/test-bucket/other" })).toThrow("does not match");
  expect(at({ query: new Map([...request.query, ["X-Goog-Expires", "11"]]) })).toThrow(
    "does not match",
  );
  expect(at({ query: new Map([...request.query, ["userProject", "p"]]) })).toThrow(
    "does not match",
  );
  expect(at({ headers: { host: "other" } })).toThrow("does not match");
  expect(at({ headers: { ...request.headers, "x-goog-acl": "x" } })).toThrow("not signed");
  expect(at({}, publishedAtMs + 10_000)).toThrow("expired");
  expect(at({}, publishedAtMs - 16 * 60_000)).toThrow("not valid yet");
});

test("a token is accepted if its account signed it, it has not expired, and its scope is storage", () => {
  const account = newAccount("tester");
  const users = [userOf(account)];
  const nowMs = 1_700_000_000_000;
  const claims = {
    iss: account.client_email,
    sub: account.client_email,
    iat: nowMs / 1_000,
    exp: nowMs / 1_000 + 3_600,
    scope: "https://www.googleapis.com/auth/devstorage.full_control",
  };
  const token = (
    changed: object = {},
    head: object = { alg: "RS256" },
    key = account.private_key,
  ) => {
    const parts = [head, { ...claims, ...changed }].map((part) =>
      Buffer.from(JSON.stringify(part)).toString("base64url"),
    );
    const signature = sign("RSA-SHA256", Buffer.from(parts.join(".")), key).toString("base64url");
    return () => userOfToken(`Bearer ${[...parts, signature].join(".")}`, users, nowMs);
  };
  expect(token()()).toBe(users[0]);
  expect(token({}, { alg: "none" })).toThrow("Invalid Credentials");
  expect(token({}, undefined, newAccount("other").private_key)).toThrow("Invalid Credentials");
  expect(token({ iss: "somebody" })).toThrow("Invalid Credentials");
  expect(token({ exp: nowMs / 1_000 })).toThrow("Invalid Credentials");
  expect(token({ exp: nowMs / 1_000 + 3_601 })).toThrow("Invalid Credentials");
  expect(token({ scope: "openid" })).toThrow("insufficient authentication scopes");
  expect(() => userOfToken(undefined, users, nowMs)).toThrow("Anonymous caller");
});
