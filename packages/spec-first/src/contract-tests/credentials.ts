import type { Document, Json, Operation } from 'openapi-document';

/** A credential for each security scheme, by the scheme's name: a token, an API key, or `user:password` for HTTP Basic. */
export type Credentials = Readonly<Record<string, string>>;

/** A credential at its place in a request. */
export interface Secret {
  readonly in: 'header' | 'query' | 'cookie';
  readonly name: string;
  readonly value: string;
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

/** The same credentials with other values. */
export const wrongSecrets = (secrets: readonly Secret[]): Secret[] =>
  secrets.map((secret) => {
    const [, scheme = '', value = ''] = secret.in === 'header' ? (/^(\S+ )?(.*)$/.exec(secret.value) ?? []) : [];
    const wrong = scheme === 'Basic ' ? btoa('nobody:wrong') : `wrong${(value || secret.value).replace(/[^\w]/g, '')}`;
    return { ...secret, value: scheme + wrong };
  });

/** Whether an operation rejects requests without credentials. */
export const needsCredentials = ({ security }: Operation): boolean =>
  security.length > 0 && security.every((requirement) => Object.keys(requirement).length > 0);

/** Where a scheme's credential goes (OpenAPI 3.1 §4.8.27). */
function secretOf({ type, scheme, in: where, name }: Json, value: string): Secret {
  if (type === 'apiKey') {
    return { in: where === 'query' || where === 'cookie' ? where : 'header', name: String(name), value };
  }
  const pair = value.includes(':') ? value : `user:${value}`;
  const basic = String(scheme).toLowerCase() === 'basic';
  const kind = type === 'http' && String(scheme).toLowerCase() !== 'bearer' ? scheme : 'Bearer';
  return { in: 'header', name: 'Authorization', value: basic ? `Basic ${btoa(pair)}` : `${kind} ${value}` };
}
