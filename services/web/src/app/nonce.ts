import { setNonce } from "get-nonce";

/** Provides the nonce of this page's policy to libraries that add styles (Radix's scroll lock). */
export function startNonce(): void {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;
  if (nonce !== undefined && nonce !== "") setNonce(nonce);
}
