import {
  asObject,
  escapePointerToken,
  type Finding,
  type Json,
  type Operation,
  securitySchemesOf,
} from 'openapi-document';

/**
 * Checks that credentials can be verified.
 *
 * @param operations those that need it: a mock takes any credential.
 * @param verifiable names of the security schemes that have a verifier.
 */
export function checkVerifiers(
  root: Json,
  operations: readonly Operation[],
  verifiable: ReadonlySet<string>,
): Finding[] {
  const schemes = securitySchemesOf(root);
  const needed = new Set(operations.flatMap(({ security }) => security.flatMap(Object.keys)));
  return [...needed]
    .filter((name) => schemes[name] !== undefined && !verifiable.has(name))
    .map((name) => {
      const { type, scheme } = asObject(schemes[name]);
      const kind = [type, scheme].filter(Boolean).join(' ');
      return {
        pointer: `/components/securitySchemes/${escapePointerToken(name)}`,
        message: `nothing verifies credentials of ${kind}: pass verifiers: { ${JSON.stringify(name)}: … } to serve`,
      };
    });
}
