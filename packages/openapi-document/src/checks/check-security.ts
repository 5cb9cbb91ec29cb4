import { asObject, escapePointerToken, type Finding, type Json } from '../document/document.ts';
import { type Operation, securitySchemesOf } from '../document/operations.ts';
import type { Report } from './report.ts';

/** Checks that the security schemes of operations are declared. */
export function checkSecurity(root: Json, operations: readonly Operation[], { problem }: Report): void {
  const schemes = securitySchemesOf(root);
  for (const { pointer, security } of operations) {
    for (const name of namesOf(security)) {
      if (!schemes[name]) problem(pointer, `security scheme ${name} is not in components.securitySchemes`);
    }
  }
}

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
  const needed = new Set(operations.flatMap(({ security }) => namesOf(security)));
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

const namesOf = (security: Operation['security']): string[] => security.flatMap((all) => Object.keys(all));
