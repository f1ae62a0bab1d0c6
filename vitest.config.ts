import { defineConfig } from "vitest/config";
import { aloneTests } from "./scripts/lib/alone-tests.ts";
import { repositoryFiles } from "./scripts/lib/repository-files.ts";
import { LongestFirst } from "./scripts/lib/test-order.ts";

const alone = aloneTests(repositoryFiles());

export default defineConfig({
  test: {
    // Some tests start real servers, on shared machines: the limit only ends tests that hang. The same holds for waits
    // within a test, and for limits that tests set themselves.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 90_000 } },
    // Two workers more than the two cores, since workers often wait for a server or a timer.
    maxWorkers: 4,
    globalSetup: ["scripts/lib/end-with-runner.ts"],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          // The files of a worker share one module graph, and by it a server for their databases: loading it takes
          // longer than the tests of most files, and a process less for each of 160 integration tests saves two minutes
          // of a core. Other modules keep no state.
          name: "shared",
          include: [
            "libs/**/*.test.ts",
            "services/**/*.test.ts",
            "deploy/**/*.test.ts",
            "scripts/**/*.test.ts",
            "test/**/*.test.ts",
          ],
          exclude: ["**/node_modules/**", ...alone],
          isolate: false,
        },
      },
      { extends: true, test: { name: "alone", include: [...alone] } },
    ],
  },
});
