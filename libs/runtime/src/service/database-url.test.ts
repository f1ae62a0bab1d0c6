import pg from "pg";
import { expect, test } from "vitest";
import { withLogin } from "./database-url.ts";

const clientOf = (url: string): pg.Client => new pg.Client({ connectionString: url });

test.each(["p@ss/wo:rd%20#?", "%41&user=x=+ y", `'"\\$ü€`])(
  "the driver reads the password %s that is set apart from the URL",
  (password) => {
    for (const url of [
      "postgres://ty_gateway@db:5432/trainyard",
      "postgres://ty_gateway@db/trainyard?application_name=x",
      "postgres://ty_gateway:other@db/trainyard",
    ]) {
      const { user, password: read, host, database } = clientOf(withLogin(url, { password }));
      expect({ user, password: read, host, database }).toEqual({
        user: "ty_gateway",
        password,
        host: "db",
        database: "trainyard",
      });
    }
  },
);

test("a user and a password are added to a URL without them, also to that of a Unix socket", () => {
  const login = { user: "ad:min@example", password: "a/b" };
  expect(clientOf(withLogin("postgres://db/trainyard", login))).toMatchObject(login);
  expect(clientOf(withLogin("socket:/run/postgres?db=trainyard", login))).toMatchObject({
    ...login,
    host: "/run/postgres",
  });
});

test("a URL without a separate login stays as it is", () => {
  expect(withLogin("postgres://a:b@db/x", {})).toBe("postgres://a:b@db/x");
});
