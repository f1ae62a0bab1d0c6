import { expect, test } from "vitest";
import { contentKey, digestOfContentKey } from "./stored-contents.ts";

const digest = "0f".repeat(32);

test.each(["contexts", "submissions", "environments"] as const)(
  "the digest of content is in its key: %s",
  (folder) => {
    for (const deletions of [0, 1, 12]) {
      expect(digestOfContentKey(contentKey({ folder, digest, deletions }))).toBe(digest);
    }
  },
);

test.each([
  `contexts/${digest}.json`,
  `contexts/${digest}.0.tar.gz`,
  `contexts/${digest}x.tar.gz`,
  `contexts/a/${digest}.tar.gz`,
  `${digest}.tar.gz`,
  "",
])("%j is no key of content", (key) => {
  expect(digestOfContentKey(key)).toBeNull();
});
