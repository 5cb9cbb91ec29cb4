import { readFile, writeFile } from 'node:fs/promises';
import { parse } from 'yaml';

interface Document {
  readonly paths?: Readonly<Record<string, object>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, object>> };
}

/**
 * Writes the plant store's document with `paths` path items. `/plants` is in the middle of them, in the document and in
 * the alphabet, so that it costs what an average path costs. Each other path has an operation and a schema of its own.
 * The server is "/", because express-openapi-validator misreads server variables and then checks nothing.
 *
 * @param source an OpenAPI document with the path `/plants`
 * @param target the JSON file to write
 * @param paths at least 1
 */
export async function writeDocument(source: string, target: string, paths: number): Promise<void> {
  const document: Document = parse(await readFile(source, 'utf8'));
  const plants = document.paths?.['/plants'];
  if (plants === undefined) throw new Error(`${source} has no path /plants, which the benchmark calls.`);
  const before = Array.from({ length: Math.ceil((paths - 1) / 2) }, (_, index) => `garden${index}`);
  const after = Array.from({ length: Math.floor((paths - 1) / 2) }, (_, index) => `weed${index}`);
  const items = (names: readonly string[]) => names.map((name) => [`/${name}/{id}/notes`, pathItem(name)]);
  const schemas = Object.fromEntries([...before, ...after].map((name) => [name, schema(name)]));
  const wide = {
    ...document,
    servers: [{ url: '/' }],
    paths: Object.fromEntries([...items(before), ['/plants', plants], ...items(after)]),
    components: { ...document.components, schemas: { ...document.components?.schemas, ...schemas } },
  };
  await writeFile(target, JSON.stringify(wide));
}

function pathItem(name: string): object {
  const content = { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } };
  return {
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
    post: {
      operationId: `add-${name}-note`,
      summary: `Adds a note to ${name}`,
      requestBody: { required: true, content },
      responses: { 200: { description: 'The note', content } },
    },
  };
}

function schema(name: string): object {
  return {
    type: 'object',
    required: ['author', 'text'],
    properties: {
      author: { type: 'string', minLength: 1, description: `Who wrote about ${name}` },
      text: { type: 'string' },
      stars: { type: 'integer', minimum: 1, maximum: 5 },
    },
  };
}
