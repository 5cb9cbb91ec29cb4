import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { type Document, loadDocument, Schemas } from 'openapi-document';
import { documentWith } from 'test-support/document-of';
import { withFiles } from 'test-support/files';
import { generateSource } from '../src/generator.ts';

const schemasOf = ({ root }: Document) => new Schemas(root);

const DOCUMENT = `openapi: 3.2.0
info: { title: Garden, version: 1.0.0 }
paths:
  /plants/{id}:
    parameters:
      - { name: id, in: path, required: true, description: The key., schema: { type: integer, minimum: 1 } }
    get:
      operationId: readPlant
      summary: Reads a plant.
      parameters:
        - { name: at, in: query, deprecated: true, schema: { type: string, format: date } }
        - { name: any, in: query }
      responses:
        '200':
          description: The plant.
          headers:
            X/Count~: { required: true, description: A count., schema: { type: integer } }
          content:
            application/json: { schema: { $ref: parts/plant.yaml } }
            text/plain: {}
        default: { description: An error. }
    post:
      operationId: grow it
      requestBody:
        required: true
        description: The changes.
        content:
          application/jsonl: { itemSchema: { type: string, format: date } }
          multipart/form-data:
            schema: { properties: { photo: {} } }
            encoding: { photo: { contentType: image/png } }
          application/x-www-form-urlencoded:
            schema: { properties: { photo: {} } }
            encoding: { photo: { contentType: image/png } }
      responses:
        '201':
          description: Grown.
          content: { application/jsonl: { itemSchema: { type: string, format: date } } }
components:
  schemas:
    a/b: { type: string }
`;

const PLANT = `type: object
description: A plant.
required: [name]
properties: { name: { type: string } }
`;

test('an operation has types of its parameters, its body and its responses', async () => {
  const files = { 'openapi.yaml': DOCUMENT, 'parts/plant.yaml': PLANT };
  const { text } = await withFiles(files, async (folder) => {
    const document = await loadDocument(join(folder, 'openapi.yaml'));
    return generateSource(document, schemasOf(document), true, 'api.yaml');
  });
  expect(text).toContain(`
/** @see api.yaml:41 */
export type aB = string;
/**
 * A plant.
 * @see parts/plant.yaml:1
 */
export type plant = {
    name: string;
};
export interface paths {
    "/plants/{id}": {
        get: operations["readPlant"];
        post: operations["grow it"];
    };
}
export interface components {
    schemas: {
        "a/b": aB;
        plant: plant;
    };
}
export interface operations<V extends Sent = Received> {
    /**
     * Reads a plant.
     * @see api.yaml:7
     */
    readPlant: {
        parameters: {
            query?: {
                /**
                 * @deprecated
                 * @format date
                 */
                at?: string;
                any?: string;
            };
            header?: never;
            path: {
                /**
                 * The key.
                 * @minimum 1
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The plant. */
            200: {
                headers: {
                    /** A count. */
                    "X/Count~": number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": plant;
                    "text/plain": unknown;
                };
            };
            /** An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    /** @see api.yaml:22 */
    "grow it": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * The key.
                 * @minimum 1
                 */
                id: number;
            };
            cookie?: never;
        };
        /** The changes. */
        requestBody: {
            content: {
                "application/jsonl": AsyncIterable<string>;
                "multipart/form-data": {
                    photo?: File;
                };
                "application/x-www-form-urlencoded": {
                    photo?: unknown;
                };
            };
        };
        responses: {
            /** Grown. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/jsonl": AsyncIterable<V['date']>;
                };
            };
        };
    };
}
export interface webhooks {}
`);
});

const empty = { 204: { description: 'Done.' } };

test('webhooks have members by name and method, with their annotations', async () => {
  const post = { summary: 'Has grown.', responses: empty };
  const webhooks = { grown: { post, put: { responses: empty } }, died: { post } };
  const document = await documentWith({ webhooks });
  const { text } = generateSource(document, schemasOf(document), true, 'a.json');
  const [lines = ''] = /(?<=interface webhooks \{\n)[\s\S]*(?=\n\}\n)/.exec(text) ?? [];
  const isOuter = (line: string) => /^ {4,8}\S/.test(line);
  expect(lines.split('\n').filter(isOuter)).toEqual([
    '    grown: {',
    '        put: {',
    '        };',
    '        /** Has grown. */',
    '        post: {',
    '        };',
    '    };',
    '    died: {',
    '        /** Has grown. */',
    '        post: {',
    '        };',
    '    };',
  ]);
});
