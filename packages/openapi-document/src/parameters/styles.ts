import type { Parameter } from '../document/types.ts';

/** How a style writes the values of a parameter (OpenAPI 3.1 §4.8.12.2). */
interface Style {
  readonly prefix: string;
  /** Between the parts of a list or an object that is not exploded, percent-encoded. */
  readonly delimiter: string;
  /** What is read as the delimiter. */
  readonly delimiters: string | RegExp;
  /** Between the parts of a list or an object that is exploded. */
  readonly exploded: string;
  /** Whether each part of an exploded list has the parameter's name. */
  readonly isNamed: boolean;
}

const comma = { prefix: '', delimiter: ',', delimiters: ',' };
const simple: Style = { ...comma, exploded: ',', isNamed: false };

const STYLES: Readonly<Record<string, Style>> = {
  simple,
  label: { ...comma, prefix: '.', exploded: '.', isNamed: false },
  matrix: { ...comma, prefix: ';', exploded: ';', isNamed: true },
  form: { ...comma, exploded: '&', isNamed: true },
  spaceDelimited: { prefix: '', delimiter: '%20', delimiters: '%20', exploded: '&', isNamed: true },
  pipeDelimited: { prefix: '', delimiter: '%7C', delimiters: /\||%7C/i, exploded: '&', isNamed: true },
  cookie: { ...comma, exploded: '; ', isNamed: true },
};

/** What tells how a value is written and read. */
export type Styled = Pick<Parameter, 'name' | 'in' | 'style' | 'explode' | 'json'>;

/** The style of a parameter. One cookie with the style `form` is written as a header is, after its name. */
export const styleOf = ({ in: where, style }: Styled): Style =>
  STYLES[where === 'cookie' && style === 'form' ? 'simple' : style] ?? simple;
