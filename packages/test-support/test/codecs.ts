import { Codecs, mediaTypesOf, type Operation } from 'openapi-document';

/** Loads the codecs of operations, as a service does. */
export async function codecsOf(operations: readonly Operation[]): Promise<Codecs> {
  const codecs = new Codecs();
  await codecs.load(operations.flatMap(mediaTypesOf));
  return codecs;
}
