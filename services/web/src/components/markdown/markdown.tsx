/**
 * Renders GitHub's Markdown as React elements. No text becomes HTML, so no text can add elements or scripts. HTML in
 * the text is shown as text. Links lead only where `safeHref` allows. An image is a link, as the pages load nothing
 * from other sites. A text that is too long or too deep to parse, or that has such a word, is shown as plain text.
 */
import { lexer, type MarkedToken, type Token, type Tokens } from "marked";
import { createElement, type JSX, type ReactNode, useMemo } from "react";
import { safeHref } from "./link.ts";
import styles from "./markdown.module.css";

/** The longest notes that can be saved. */
const charactersMax = 32 * 1024;
/** The parser's time grows with the square of a word's length, for example before an "@". */
const wordCharactersMax = 1_000;
const depthMax = 40;

export function Markdown({ text }: { readonly text: string }): JSX.Element {
  const tokens = useMemo(() => tokensOf(text), [text]);
  return (
    <div className={styles["markdown"]}>
      {tokens === null ? <pre>{text}</pre> : elementsOf(tokens, 0)}
    </div>
  );
}

function tokensOf(text: string): readonly Token[] | null {
  if (text.length > charactersMax) return null;
  if (text.split(/\s/).some((word) => word.length > wordCharactersMax)) return null;
  try {
    return lexer(text);
  } catch {
    // Thousands of nested quotes exceed the parser's stack; no person writes such a text.
    return null;
  }
}

function elementsOf(tokens: readonly Token[] | undefined, depth: number): ReactNode {
  if (depth > depthMax) return tokens?.map(({ raw }) => raw).join("");
  return tokens?.map((token, at) => (
    // Parts of a text have no identity but their position.
    <Part key={at} token={token as MarkedToken} depth={depth + 1} />
  ));
}

type PartProps = { readonly token: MarkedToken; readonly depth: number };

function Part({ token, depth }: PartProps): ReactNode {
  const inside = (tokens: readonly Token[] | undefined): ReactNode => elementsOf(tokens, depth);
  switch (token.type) {
    case "heading":
      // Headings of the text are below the headings of the page.
      return createElement(`h${Math.min(6, token.depth + 2)}`, {}, inside(token.tokens));
    case "paragraph":
      return <p>{inside(token.tokens)}</p>;
    case "strong":
      return <strong>{inside(token.tokens)}</strong>;
    case "em":
      return <em>{inside(token.tokens)}</em>;
    case "del":
      return <del>{inside(token.tokens)}</del>;
    case "blockquote":
      return <blockquote>{inside(token.tokens)}</blockquote>;
    case "codespan":
      return <code>{token.text}</code>;
    case "code":
      return <pre tabIndex={0}>{token.text}</pre>;
    case "list":
      return <List list={token} depth={depth} />;
    case "table":
      return <Table table={token} depth={depth} />;
    case "link":
      return <Anchor href={token.href}>{inside(token.tokens)}</Anchor>;
    case "image":
      return <Anchor href={token.href}>{token.text === "" ? token.href : token.text}</Anchor>;
    case "text":
      return token.tokens === undefined ? token.text : inside(token.tokens);
    case "escape":
      return token.text;
    case "checkbox":
      return token.checked ? "☑ " : "☐ ";
    case "br":
      return <br />;
    case "hr":
      return <hr />;
    case "html":
      return token.block ? <p>{token.raw.trim()}</p> : token.raw;
    case "space":
    case "def":
      return null;
    default:
      return token.raw;
  }
}

function Anchor({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  const safe = safeHref(href);
  if (safe === null) return <>{children}</>;
  const isOwn = safe.startsWith("/") || safe.startsWith("#");
  return (
    <a href={safe} {...(isOwn ? {} : { target: "_blank", rel: "noopener noreferrer" })}>
      {children}
    </a>
  );
}

function List({ list, depth }: { readonly list: Tokens.List; readonly depth: number }) {
  const items = list.items.map((item, at) => <li key={at}>{elementsOf(item.tokens, depth)}</li>);
  if (!list.ordered) return <ul>{items}</ul>;
  return <ol start={list.start === "" ? 1 : list.start}>{items}</ol>;
}

function Table({ table, depth }: { readonly table: Tokens.Table; readonly depth: number }) {
  return (
    <table>
      <thead>
        <tr>
          {table.header.map(({ tokens, align }, at) => (
            <th key={at} scope="col" data-align={align}>
              {elementsOf(tokens, depth)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((row, line) => (
          <tr key={line}>
            {row.map(({ tokens, align }, at) => (
              <td key={at} data-align={align}>
                {elementsOf(tokens, depth)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
