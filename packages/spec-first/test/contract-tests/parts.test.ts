import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { validatorOf } from '../src/contract-tests/checks.ts';
import { partsOf } from '../src/contract-tests/parts.ts';
import { writeRequest } from '../src/contract-tests/write-request.ts';

/** Returns the operation of a document, and the bodies that its requests may have. */
async function operationIn(document: string) {
  const folder = mkdtempSync(join(tmpdir(), 'parts-'));
  try {
    const file = join(folder, 'openapi.yaml');
    writeFileSync(file, document);
    const { root, operations } = await loadDocument(file);
    const [operation] = operations;
    if (operation === undefined) throw new Error('the operation is missing');
    const validator = validatorOf(root, operation);
    const { bodies } = partsOf({ root, operation, validator, oracle: () => undefined });
    return { operation, bodies };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('valid values include each alternative of a discriminator', async () => {
  const { bodies } = await operationIn(`openapi: 3.1.0
info: { title: Pets, version: 1.0.0 }
paths:
  /pets:
    post:
      operationId: addPet
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/MyResponseType' } } } }
      responses: { '204': { description: done } }
components:
  schemas:
    MyResponseType:
      oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }]
      discriminator: { propertyName: petType, mapping: { dog: Dog } }
    Cat: { type: object, required: [petType, name], properties: { petType: { type: string }, name: { type: string } } }
    Dog: { type: object, required: [petType, bark], properties: { petType: { type: string }, bark: { type: string } } }
`);
  const types = bodies.flatMap((body) => body.samples).map((value) => Object(value).petType);
  expect(new Set(types)).toEqual(new Set(['Cat', 'dog']));
});

test('files have each declared media type in turn', async () => {
  const { operation, bodies } = await operationIn(`openapi: 3.1.0
info: { title: Photos, version: 1.0.0 }
paths:
  /photos:
    post:
      operationId: addPhoto
      requestBody:
        required: true
        content:
          multipart/form-data:
            schema: { type: object, required: [file], properties: { file: { type: string, format: binary } } }
            encoding: { file: { contentType: 'image/png, image/jpeg' } }
      responses: { '204': { description: done } }
`);
  const [body] = bodies;
  if (body === undefined) throw new Error('the body is missing');
  const values = new Map([[body, body.samples[0]]]);
  const sent = [0, 1, 2, 3, 4].map((turn) => writeRequest(operation, { values, turn }, []));
  const types = (await Promise.all(sent)).map(
    (request) => /Content-Type: (image\/\w+)/i.exec(String(request.body))?.[1],
  );
  expect(types).toEqual(['image/png', 'image/png', 'image/jpeg', 'image/jpeg', 'image/png']);
});
