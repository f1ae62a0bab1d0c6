/**
 * The policy of the pages allows style elements only with the page's nonce, and no `style` attribute. xterm.js adds
 * style elements without it, and sets the attribute on cells with a colour of their own; its option for another
 * document does not reach all of these places. So while a terminal is shown, the document makes such elements as the
 * policy wants.
 */
import { getNonce } from "get-nonce";

type CreateElement = (name: string, options?: ElementCreationOptions) => HTMLElement;
type Patched = { createElement?: CreateElement };

export function allowStyles(): Disposable {
  const patched = document as Patched;
  patched.createElement = createElement;
  return {
    [Symbol.dispose]() {
      // The method of the prototype is there again.
      delete patched.createElement;
    },
  };
}

function createElement(name: string, options?: ElementCreationOptions): HTMLElement {
  const element = Document.prototype.createElement.call(document, name, options);
  if (element instanceof HTMLStyleElement) element.nonce = getNonce() ?? "";
  if (element instanceof HTMLSpanElement) element.setAttribute = setAttribute;
  return element;
}

/** The object model may set what the attribute may not. */
function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === "style") this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}
