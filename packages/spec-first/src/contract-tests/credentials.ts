import type { Document, Json, Operation } from 'openapi-document';

/** A credential for each security scheme, by the scheme's name: a token, an API key, or `user:password` for HTTP Basic. */
export type Credentials = Readonly<Record<string, string>>;

/** A credential at its place in a request. */
export interface Secret {
  readonly in: 'header' | 'query' | 'cookie';
  readonly name: string;
  readonly value: string;
  /** A value that the service must deny. */
  readonly wrong: string;
}

/**
 * The credentials that an operation is called with: those of the first of its security requirements that are all there.
 *
 * @throws {Error} if some are missing.
 */
export function secretsFor(
  { securitySchemes: schemes }: Document,
  operation: Operation,
  given: Credentials | string,
): Secret[] {
  const { security } = operation;
  const credentials =
    typeof given === 'string' ? Object.fromEntries(Object.keys(schemes).map((name) => [name, given])) : given;
  const possible = (requirement: Operation['security'][number]) =>
    Object.keys(requirement).every((name) => Object.hasOwn(credentials, name));
  const chosen = security.find((item) => Object.keys(item).length > 0 && possible(item)) ?? security.find(possible);
  if (chosen === undefined) {
    if (security.length === 0) return [];
    const names = [...new Set(security.flatMap((requirement) => Object.keys(requirement)))];
    throw new Error(
      `${operation.id} needs credentials. Pass one of: credentials: { ${names.join(": '…' }, { ")}: '…' }`,
    );
  }
  return Object.keys(chosen).map((name) => secretOf(schemes[name] ?? {}, credentials[name] ?? ''));
}

/** Where a scheme's credential goes (OpenAPI 3.1 §4.8.27). */
function secretOf({ type, scheme, in: where, name }: Json, value: string): Secret {
  const wrong = `wrong${value.replace(/\W/g, '')}`;
  if (type === 'apiKey') {
    return { in: where === 'query' || where === 'cookie' ? where : 'header', name: String(name), value, wrong };
  }
  const http = type === 'http' ? String(scheme) : 'Bearer';
  const headerOf = (token: string) =>
    http.toLowerCase() === 'basic'
      ? `Basic ${btoa(token.includes(':') ? token : `user:${token}`)}`
      : `${http.replace(/^bearer$/i, 'Bearer')} ${token}`;
  return { in: 'header', name: 'Authorization', value: headerOf(value), wrong: headerOf(wrong) };
}
