import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

type Modules = {
  readonly getModuleInfo: (
    id: string,
  ) => { readonly isEntry: boolean; readonly importers: readonly string[] } | null;
};

/** The page that most people open first. Its code is one file too, which begins to load with the first one. */
const listPage = "/pages/experiments/page.tsx";

/** Whether an importer of a module, direct or indirect and without dynamic imports, has the property. */
function isBelow(
  id: string,
  modules: Modules,
  isTop: (id: string, isEntry: boolean) => boolean,
  seen = new Set<string>(),
): boolean {
  if (seen.has(id)) return false;
  seen.add(id);
  const { isEntry = false, importers = [] } = modules.getModuleInfo(id) ?? {};
  return (
    isTop(id, isEntry) || importers.some((importer) => isBelow(importer, modules, isTop, seen))
  );
}

/**
 * The modules that every page needs are one file: the entry imports them. Those of the list are another one. The
 * browser would otherwise request dozens.
 */
const together = {
  debugName: "first load",
  name: (id: string, modules: Modules) => {
    if (isBelow(id, modules, (_id, isEntry) => isEntry)) return "first";
    return isBelow(id, modules, (one) => one.endsWith(listPage)) ? "list" : null;
  },
};

/** The call of the list without a filter: `services/web/src/pages/experiments/list.ts` makes it. */
const firstRows = "/api/v1/experiments?pageSize=50&count=true";

/** Lets the list's code and rows load before the first file has run, which would request them. */
const earlyList: Plugin = {
  name: "early list",
  transformIndexHtml: {
    order: "post",
    handler: (_html, { bundle = {} }) => {
      const chunk = Object.values(bundle).find(
        (one) => one.type === "chunk" && one.moduleIds.some((id) => id.endsWith(listPage)),
      );
      if (chunk?.type !== "chunk") return [];
      const styles = [...(chunk.viteMetadata?.importedCss ?? [])];
      const links = [
        { rel: "modulepreload", href: `/${chunk.fileName}` },
        ...styles.map((file) => ({ rel: "preload", as: "style", href: `/${file}` })),
      ];
      const rows = { rel: "preload", as: "fetch", href: firstRows };
      const children = `if (location.pathname === "/experiments")
        for (const link of [...${JSON.stringify(links)}, ...(location.search === "" ? [${JSON.stringify(rows)}] : [])])
          document.head.append(Object.assign(document.createElement("link"), { crossOrigin: "anonymous" }, link));`;
      const attrs = { nonce: "__CSP_NONCE__" };
      return [{ tag: "script", attrs, children, injectTo: "head-prepend" }];
    },
  },
};

// The gateway replaces the nonce placeholder in each answer: no script or style runs without the nonce. `--mode bench`
// builds a benchmark's page instead.
export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  plugins: [react(), earlyList],
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
      output: { codeSplitting: { groups: [together] } },
    },
  },
}));
