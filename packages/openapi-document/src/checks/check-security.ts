import { asObject, type Json } from '../document/document.ts';
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

const namesOf = (security: Operation['security']): string[] => security.flatMap((all) => Object.keys(asObject(all)));
