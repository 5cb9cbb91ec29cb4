import type { Formats } from '../schema/formats.ts';
import { Schemas } from '../schema/schemas.ts';
import { asObject, entriesOf, type Json, resolveRef } from '../source/document.ts';
import { loadSource, type Source } from '../source/load.ts';
import { type Operation, operationsOf, reachable, webhooksOf } from './operations.ts';
import { basePathsOf } from './servers.ts';

/** An OpenAPI document. */
export interface Document extends Source {
  readonly schemas: Schemas;
  readonly operations: readonly Operation[];
  /**
   * The requests that the service sends: webhooks and callbacks. The path of a webhook is its name.
   * The path of a callback is `operationId.name`. Only the first URL of a callback is read.
   */
  readonly webhooks: readonly Operation[];
  /** The base paths of operations without servers of their own. */
  readonly basePaths: readonly [string, ...string[]];
  /** The Security Scheme Objects by name, with references resolved. */
  readonly securitySchemes: Readonly<Record<string, Json>>;
}

/** The path of a document, its value, such as an imported JSON module, or a loaded document. */
export type DocumentSource = string | (object & { readonly openapi: string }) | Document;

/**
 * Reads a document and the files that it references. The files of a value are relative to the
 * working directory. Referenced parts of other files become components, named after their file or
 * their location in it. Nothing is fetched.
 *
 * @param source a loaded document is returned unchanged, unless it has no or other formats.
 * @param options.allowOutside true to read referenced files outside the folder of the document.
 * @param options.formats the formats of the service.
 * @throws {DocumentError} if the file cannot be read or is not an OpenAPI document.
 */
export async function loadDocument(
  source: DocumentSource,
  { allowOutside = false, formats }: LoadOptions = {},
): Promise<Document> {
  if (typeof source === 'object' && !('openapi' in source)) {
    const isSame = formats === undefined || formats === source.schemas.tree.formats;
    return isSame ? source : { ...source, ...partsOf(source.root, formats) };
  }
  const loaded = await loadSource(source, allowOutside);
  const { unreachable, ...parts } = partsOf(loaded.root, formats);
  return { ...loaded, ...parts, corrections: [...loaded.corrections, ...unreachable] };
}

interface LoadOptions {
  readonly allowOutside?: boolean | undefined;
  readonly formats?: Formats | undefined;
}

function partsOf(root: Json, formats: Formats | undefined) {
  const schemas = new Schemas(root, { formats });
  const { operations, unreachable } = reachable(operationsOf(schemas));
  const schemes = entriesOf(asObject(root.components).securitySchemes);
  return {
    schemas,
    operations,
    unreachable,
    webhooks: webhooksOf(schemas, operations),
    basePaths: basePathsOf(root.servers),
    securitySchemes: Object.fromEntries(
      schemes.map(([name, value]) => [name, resolveRef(root, value) ?? {}]),
    ),
  };
}
