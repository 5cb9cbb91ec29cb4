import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { checkDocument, loadDocument, type Operation } from 'openapi-document';

const folder = mkdtempSync(join(tmpdir(), 'openapi-3.2-'));
afterAll(() => rmSync(folder, { recursive: true }));

const path = (name: string) => join(folder, name);
const write = (name: string, text: string) => writeFileSync(path(name), text);

write(
  'openapi.yaml',
  `openapi: 3.2.0
$self: https://example.com/apis/openapi.yaml
info: { title: Test, version: '1' }
servers: [{ url: /v1, name: main }]
paths:
  /things:
    query:
      operationId: queryThings
      requestBody: { content: { application/json: { schema: { type: object } } } }
      responses: { 200: { summary: Found, content: { application/jsonl: { $ref: '#/components/mediaTypes/Things' } } } }
    additionalOperations:
      COPY:
        operationId: copyThing
        responses: { 204: { description: Copied } }
  /search:
    get:
      operationId: search
      parameters:
        - name: filter
          in: querystring
          content:
            application/x-www-form-urlencoded:
              schema: { type: object, properties: { limit: { type: integer }, tags: { type: array, items: {} } } }
      responses:
        200:
          description: Events
          content:
            text/event-stream:
              itemSchema: { $ref: 'https://example.com/apis/schemas.yaml#/Event' }
            multipart/mixed:
              itemSchema: {}
  /pets:
    get:
      operationId: pets
      responses:
        200:
          description: A pet
          content:
            application/json:
              schema: { $ref: 'https://example.com/apis/openapi.yaml#/components/schemas/Pet' }
              examples:
                data: { dataValue: { kind: cat } }
                text: { serializedValue: '{"kind":"dog"}' }
components:
  mediaTypes:
    Things: { itemSchema: { type: object, required: [id], properties: { id: { type: integer } } } }
  schemas:
    Pet:
      type: object
      anyOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Other' }]
      discriminator: { propertyName: kind, defaultMapping: Other }
    Cat: { type: object, properties: { kind: { const: cat } } }
    Other: { type: object }
  securitySchemes:
    device:
      type: oauth2
      deprecated: true
      oauth2MetadataUrl: https://example.com/.well-known/oauth
      flows:
        deviceAuthorization:
          { deviceAuthorizationUrl: https://example.com/device, tokenUrl: https://example.com/token, scopes: {} }
`,
);
write('schemas.yaml', 'Event: { type: object, properties: { data: { type: string } } }\n');

const document = await loadDocument(path('openapi.yaml'));
const { operations } = document;
const operationOf = (id: string): Operation => {
  const operation = operations.find((candidate) => candidate.id === id);
  if (operation === undefined) throw new Error(`there is no operation ${id}`);
  return operation;
};
const mediaOf = (id: string) => operationOf(id).responses.flatMap(({ media }) => media);

test('a document of OpenAPI 3.2 has no problem and no notice', () => {
  const { problems, notices } = checkDocument(document);
  expect(document.describe([...problems, ...notices])).toBe('');
});

test('a sequence has the schema of its items', () => {
  expect(mediaOf('queryThings')).toMatchObject([{ items: { schema: { required: ['id'] } } }]);
  expect(mediaOf('search').map(({ items }) => items?.schema)).toMatchObject([
    { $ref: '#/components/schemas/Event' },
    {},
  ]);
});

test('a reference by the URL in $self is resolved, and a name in defaultMapping becomes a reference', () => {
  expect(mediaOf('pets')[0]?.schema).toEqual({ $ref: '#/components/schemas/Pet' });
  expect(document.root).toMatchObject({
    components: {
      schemas: { Pet: { discriminator: { defaultMapping: '#/components/schemas/Other' } } },
    },
  });
});

test('a file of another version is read', async () => {
  const mixed =
    "openapi: 3.2.0\ninfo: { title: Test, version: '1' }\npaths: { /a: { $ref: 'old.yaml#/paths/~1a' } }\n";
  write('mixed.yaml', mixed);
  write('old.yaml', 'openapi: 3.1.0\npaths: { /a: { get: { operationId: a } } }\n');
  const { operations } = await loadDocument(path('mixed.yaml'));
  expect(operations.map(({ id }) => id)).toEqual(['a']);
});
