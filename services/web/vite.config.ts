import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

type Modules = {
  readonly getModuleInfo: (
    id: string,
  ) => { readonly isEntry: boolean; readonly importers: readonly string[] } | null;
};

/**
 * Finds the modules that every page needs: the entry imports them, directly or indirectly, without dynamic imports.
 * They are bundled into one file, since the browser would otherwise request dozens.
 */
function isFirst(id: string, modules: Modules, seen = new Set<string>()): boolean {
  if (seen.has(id)) return false;
  seen.add(id);
  const { isEntry = false, importers = [] } = modules.getModuleInfo(id) ?? {};
  return isEntry || importers.some((importer) => isFirst(importer, modules, seen));
}

const firstLoad = {
  debugName: "first load",
  name: (id: string, modules: Modules) => (isFirst(id, modules) ? "first" : null),
};

// The gateway replaces the nonce placeholder in each answer: no script or style runs without the nonce. `--mode bench`
// builds a benchmark's page instead.
export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  plugins: [react()],
  html: { cspNonce: "__CSP_NONCE__" },
  worker: { format: "es" },
  build: {
    target: "es2024",
    // Inlined files would need a policy that allows data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      input: mode === "bench" ? "bench/chart.html" : "index.html",
      output: { codeSplitting: { groups: [firstLoad] } },
    },
  },
}));
