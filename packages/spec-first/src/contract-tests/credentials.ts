import type { Document, Operation } from 'openapi-document';

/**
 * A credential for each security scheme, by the scheme's name: a token, an API key, or
 * `user:password` for HTTP Basic.
 */
export type Credentials = Readonly<Record<string, string>>;

/** The credential in messages. */
const PLACEHOLDER = 'TOKEN';

const WRONG_CREDENTIAL = 'wrong-credential';

/** A credential and its location in a request. */
export interface Secret {
  /** The name of the security scheme. */
  readonly scheme: string;
  readonly in: 'header' | 'query' | 'cookie';
  readonly name: string;
  readonly value: string;
  /** The value in messages. */
  readonly placeholder: string;
}

/**
 * Returns the secrets for an operation. They satisfy its first security requirement for which
 * `source` has all credentials. A requirement without schemes is used last.
 *
 * @throws {Error} if the operation has requirements, but `source` satisfies none of them.
 */
export function secretsFor(
  { securitySchemes: schemes }: Document,
  operation: Operation,
  source: Credentials | string,
  placeholder = PLACEHOLDER,
): Secret[] {
  const { security } = operation;
  const credentials = byScheme(schemes, source);
  const hasCredentials = (requirement: Requirement) => isSatisfied(requirement, credentials);
  const chosen =
    security.find((item) => Object.keys(item).length > 0 && hasCredentials(item)) ??
    security.find(hasCredentials);
  if (chosen === undefined) {
    if (security.length === 0) return [];
    const choices = security.map(exampleCredentials).join(' or ');
    throw new Error(`${operation.id} needs credentials: pass \`credentials: ${choices}\``);
  }
  return Object.keys(chosen).map((name) =>
    secretOf(schemes, name, credentials[name] ?? '', placeholder),
  );
}

type Requirement = Operation['security'][number];

const isSatisfied = (requirement: Requirement, credentials: Credentials): boolean =>
  Object.keys(requirement).every((name) => Object.hasOwn(credentials, name));

/** Returns true if a caller has all credentials for an operation. */
export const canCall = (
  { security }: Operation,
  source: Credentials | string,
  { securitySchemes }: Pick<Document, 'securitySchemes'>,
): boolean =>
  security.length === 0 ||
  security.some((requirement) => isSatisfied(requirement, byScheme(securitySchemes, source)));

const exampleCredentials = (requirement: Operation['security'][number]): string =>
  `{ ${Object.keys(requirement)
    .map((name) => `${name}: '…'`)
    .join(', ')} }`;

/** Secrets that the service must reject. */
export interface InsufficientSecrets {
  readonly label: string;
  readonly secrets: readonly Secret[];
  /** True for another caller, for whom a resource may not exist. */
  readonly isOther?: boolean;
}

/**
 * Returns variants of an operation's secrets that the service must reject. Returns none if the
 * operation needs no credentials.
 *
 * @param unscoped credentials without any scope.
 * @param otherSecrets the secrets of a caller who owns nothing.
 */
export function insufficientSecrets(
  document: Document,
  operation: Operation,
  secrets: readonly Secret[],
  source: Credentials | string,
  unscoped?: Credentials | string,
  otherSecrets?: readonly Secret[],
): InsufficientSecrets[] {
  const requirements = operation.security.map((requirement) => Object.entries(requirement));
  const { securitySchemes: schemes } = document;
  // A certificate is no part of a request, so such a requirement is satisfied or not.
  const isOptional = requirements.some((needed) =>
    needed.every(([name]) => schemes[name]?.type === 'mutualTLS'),
  );
  if (secrets.length === 0 || isOptional) return [];
  const credentials = byScheme(schemes, source);
  const wrongSecret = (scheme: string): Secret => {
    // A user name is no secret. A service that ignores passwords accepts any of them.
    const [user = '', password] = credentials[scheme]?.split(':') ?? [];
    const wrong = password === undefined ? WRONG_CREDENTIAL : `${user}:${WRONG_CREDENTIAL}`;
    return secretOf(schemes, scheme, wrong, WRONG_CREDENTIAL);
  };
  const needsScopes = requirements.every((needed) => needed.some(([, scopes]) => scopes.length));
  const result: InsufficientSecrets[] = [
    { label: 'without credentials', secrets: [] },
    ...requirements.map((needed) => {
      const names = needed.map(([name]) => name);
      const schemeNames = requirements.length > 1 ? ` for ${names.join(' and ')}` : '';
      const label = `with wrong credentials${schemeNames}`;
      return { label, secrets: names.map(wrongSecret) };
    }),
  ];
  if (needsScopes && unscoped !== undefined) {
    const sent = secretsFor(document, operation, unscoped, `UNSCOPED_${PLACEHOLDER}`);
    result.push({ label: 'without the scopes', secrets: sent });
  }
  if (otherSecrets !== undefined && operation.template.names.length > 0)
    result.push({ label: 'of another caller', secrets: otherSecrets, isOther: true });
  return result;
}

/** A string is the token of every scheme. */
const byScheme = (schemes: Document['securitySchemes'], source: Credentials | string) =>
  typeof source === 'string'
    ? Object.fromEntries(Object.keys(schemes).map((name) => [name, source]))
    : source;

/** Puts a credential at the place that its scheme declares (OpenAPI 3.1 §4.8.27). */
function secretOf(
  schemes: Document['securitySchemes'],
  schemeName: string,
  credential: string,
  placeholder: string,
): Secret {
  const { type, scheme, in: where, name } = schemes[schemeName] ?? {};
  if (type === 'apiKey') {
    return {
      scheme: schemeName,
      in: where === 'query' || where === 'cookie' ? where : 'header',
      name: String(name),
      value: credential,
      placeholder,
    };
  }
  const http = type === 'http' ? String(scheme) : 'Bearer';
  const headerFor = (text: string) => {
    const user = text.includes(':') ? text : `user:${text}`;
    return http.toLowerCase() === 'basic'
      ? `Basic ${Buffer.from(user).toString('base64')}`
      : `${http.replace(/^bearer$/i, 'Bearer')} ${text}`;
  };
  return {
    scheme: schemeName,
    in: 'header',
    name: 'Authorization',
    value: headerFor(credential),
    placeholder: headerFor(placeholder),
  };
}
