/** The small part of XML that S3 uses: elements and text, without meaningful attributes. */
import { S3Error } from "./errors.ts";

export type XmlValue = string | number | readonly XmlElement[];
export type XmlElement = readonly [name: string, value: XmlValue];

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

const escape = (text: string): string =>
  text
    .replace(/[&<>"]/g, (character) => escapes[character] ?? character)
    .replace(/[\0-\x08\x0b\x0c\x0d\x0e-\x1f]/g, (c) => `&#x${c.charCodeAt(0).toString(16)};`);

function written([name, value]: XmlElement): string {
  const inside = Array.isArray(value)
    ? value.map(written).join("")
    : escape(String(value as string | number));
  return `<${name}>${inside}</${name}>`;
}

export function writeXml(root: string, children: readonly XmlElement[]): string {
  const inside = children.map(written).join("");
  const space = root === "Error" ? "" : ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}${space}>${inside}</${root}>`;
}

export type ReadElement = {
  readonly name: string;
  readonly text: string;
  readonly children: readonly ReadElement[];
};

const token = /<\?[^>]*\?>|<(\/?)([A-Za-z][\w:.-]*)([^>]*?)(\/?)>|([^<]+)/g;

/** Throws MalformedXML if an element is not closed properly. */
export function readXml(text: string): ReadElement {
  const malformed = (): S3Error =>
    new S3Error(400, "MalformedXML", "The XML you provided was not well-formed.");
  type Open = { name: string; text: string; children: ReadElement[] };
  const top: Open = { name: "", text: "", children: [] };
  const open: Open[] = [top];
  for (const [, closes, name, , isEmpty, chars] of text.matchAll(token)) {
    const inside = open.at(-1) ?? top;
    if (chars !== undefined) inside.text += unescape(chars);
    else if (name === undefined) continue;
    else if (isEmpty === "/") inside.children.push({ name, text: "", children: [] });
    else if (closes === "") open.push({ name, text: "", children: [] });
    else {
      const closed = open.pop();
      if (closed === undefined || closed.name !== name) throw malformed();
      (open.at(-1) ?? top).children.push(closed);
    }
  }
  const [root] = top.children;
  if (open.length !== 1 || root === undefined || top.children.length > 1) throw malformed();
  return root;
}

function unescape(text: string): string {
  return text
    .replace(/&#x([0-9a-fA-F]+);/g, (_, digits: string) =>
      String.fromCodePoint(parseInt(digits, 16)),
    )
    .replace(/&#(\d+);/g, (_, digits: string) => String.fromCodePoint(Number(digits)))
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&amp;", "&");
}

export function textAt(element: ReadElement, name: string): string | undefined {
  return element.children.find((child) => child.name === name)?.text;
}
