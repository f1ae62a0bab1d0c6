import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "libs/**/*.test.ts",
      "services/**/*.test.ts",
      "deploy/**/*.test.ts",
      "test/**/*.test.ts",
    ],
    exclude: ["**/node_modules/**"],
    // Real servers start in some tests, on machines that are shared: a limit only ends what hangs.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Two cores: more workers than that only slow each other.
    maxWorkers: 2,
  },
});
