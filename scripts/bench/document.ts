import { readFile, writeFile } from 'node:fs/promises';
import { parse } from 'yaml';

type Json = Record<string, unknown>;

/**
 * Writes the contract of this project, with `paths` path items instead of its own one, half of them before `/plants`
 * and half behind it in the document as in the alphabet, so that `/plants` costs what an average path costs. Each
 * further one is an operation with a schema of its own. The server is "/", since express-openapi-validator misreads
 * server variables and would then check nothing.
 *
 * @param source an OpenAPI document that has `/plants`
 * @param target the JSON file to write
 * @param paths at least 1
 */
export async function writeDocument(source: string, target: string, paths: number): Promise<void> {
  const document: unknown = parse(await readFile(source, 'utf8'));
  if (!isObject(document) || !isObject(document.paths) || !isObject(document.components)) {
    throw new Error(`${source} has no paths and components, so it is not the plant store's document.`);
  }
  if (document.paths['/plants'] === undefined) {
    throw new Error(`${source} has no path /plants, which is what the benchmark calls.`);
  }
  const before = Array.from({ length: Math.ceil((paths - 1) / 2) }, (_, index) => `garden${index}`);
  const behind = Array.from({ length: Math.floor((paths - 1) / 2) }, (_, index) => `weed${index}`);
  const schemas = isObject(document.components.schemas) ? document.components.schemas : {};
  const wide = {
    ...document,
    servers: [{ url: '/' }],
    paths: Object.fromEntries([
      ...before.map((name) => [`/${name}/{id}/notes`, pathItem(name)]),
      ['/plants', document.paths['/plants']],
      ...behind.map((name) => [`/${name}/{id}/notes`, pathItem(name)]),
    ]),
    components: {
      ...document.components,
      schemas: { ...schemas, ...Object.fromEntries([...before, ...behind].map((name) => [name, schema(name)])) },
    },
  };
  await writeFile(target, JSON.stringify(wide));
}

function pathItem(name: string): Json {
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

function schema(name: string): Json {
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

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
