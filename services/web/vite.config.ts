import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The gateway replaces the placeholder of the nonce in each answer: no script or style without it runs.
export default defineConfig({
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
  },
});
