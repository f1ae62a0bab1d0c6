import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

type Modules = {
  readonly getModuleInfo: (
    id: string,
  ) => { readonly isEntry: boolean; readonly importers: readonly string[] } | null;
};

/**
 * All that every page needs is one file: the browser would ask for dozens otherwise. A module is needed by every page if the
 * entry imports it, directly or not, without the imports that are made when a page is opened.
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

// The gateway replaces the placeholder of the nonce in each answer: no script or style without it runs. `--mode bench` builds
// the page of a benchmark instead.
export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  plugins: [react()],
  html: { cspNonce: "__CSP_NONCE__" },
  worker: { format: "es" },
  build: {
    target: "es2024",
    // Files inside the page would need a policy that allows data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      input: mode === "bench" ? "src/bench/chart.html" : "index.html",
      output: { codeSplitting: { groups: [firstLoad] } },
    },
  },
}));
