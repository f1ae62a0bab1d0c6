import { setNonce } from "get-nonce";

/** Libraries that add a style of their own (Radix's scroll lock) take the nonce of this page's policy from here. */
export function startNonce(): void {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;
  if (nonce !== undefined && nonce !== "") setNonce(nonce);
}
