import { isIdentifier, isObjectMethod, isObjectProperty, isSpreadElement, isStringLiteral } from '@babel/types';
import type { SourceFile } from './source-file.ts';

/**
 * The names of the handlers in source files, each with the path of its file. An object that handlers spread counts as well,
 * found by the name of its constant in any of the files.
 */
export function handledIn(files: readonly SourceFile[]): ReadonlyMap<string, string> {
  const handled = new Map<string, string>();
  const isSpread = new Set<string>();
  const seen = new Set<object>();
  for (let before = -1; before < seen.size; ) {
    before = seen.size;
    for (const { path, objects, constants } of files) {
      const spread = [...constants].filter(([name]) => isSpread.has(name)).map(([, literal]) => literal);
      for (const literal of [...objects.map((object) => object.literal), ...spread]) {
        seen.add(literal);
        for (const member of literal.properties) {
          if (isSpreadElement(member)) {
            if (isIdentifier(member.argument)) isSpread.add(member.argument.name);
          } else if ((isObjectProperty(member) || isObjectMethod(member)) && !member.computed) {
            const { key } = member;
            if (isIdentifier(key)) handled.set(key.name, path);
            if (isStringLiteral(key)) handled.set(key.value, path);
          }
        }
      }
    }
  }
  return handled;
}
