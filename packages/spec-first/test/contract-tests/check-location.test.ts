import { describe, expect, test } from '@jest/globals';
import { checkLocation } from '../../src/contract-tests/check-location.ts';
import { documentOf, operationIn, responseOf } from './test-data.ts';

const parcelId = { name: 'parcelId', in: 'path', required: true, schema: { type: 'integer' } };
const operation = (operationId: string) => ({ operationId, responses: {} });
const PATHS = {
  '/parcels': { post: operation('addParcel') },
  '/parcels/{parcelId}': { parameters: [parcelId], get: operation('getParcel') },
  '/parcels/{parcelId}/label': { parameters: [parcelId], get: operation('getLabel') },
  '/parcels/{parcelId}/route': { parameters: [parcelId], put: operation('putRoute') },
};

async function check(location: string, { status = 201, hasReader = true } = {}): Promise<void> {
  const document = await documentOf({ paths: PATHS });
  const response = responseOf(status, { location });
  const context = {
    operations: document.operations,
    basePaths: ['/v1', ''],
    reader: hasReader ? { operation: operationIn(document, 'getParcel') } : undefined,
  };
  checkLocation(context, { ...response, url: 'http://host/v1/parcels?key=a' });
}

describe('the Location of a created resource', () => {
  test.each([
    'parcels/7',
    '/v1/parcels/7',
    'http://host/v1/parcels/7#top',
    '/parcels/7',
    '/v1/parcels/7/label',
    'http://other/parcel/7',
    'http://',
  ])('may be %s', async (location) => {
    await check(location);
  });

  test.each([
    ['parcel/7', '/v1/parcel/7'],
    ['7', '/v1/7'],
    ['parcels/', '/v1/parcels/'],
    ['parcels/7/', '/v1/parcels/7/'],
    ['', '/v1/parcels'],
    ['/v2/parcels/7', '/v2/parcels/7'],
    ['http://host/v1/v1/parcels/7', '/v1/v1/parcels/7'],
    ['/v1/parcels/7/route', '/v1/parcels/7/route'],
  ])('must be a path of a GET operation: %s', async (location, path) => {
    await expect(check(location)).rejects.toThrow(
      expect.objectContaining({
        check: 'Location is the URL of a resource',
        message: `Location "${location}" is the path ${path}, which has no GET operation: return the URL of GET /parcels/{parcelId}`,
      }),
    );
  });

  test('may have any path if the document has no GET operation of the resource', async () => {
    await check('parcel/7', { hasReader: false });
  });

  test.each([200, 202])('may have any path in a response %i', async (status) => {
    await check('parcel/7', { status });
  });
});

test('a created resource may have no Location', async () => {
  const document = await documentOf({ paths: PATHS });
  const reader = { operation: operationIn(document, 'getParcel') };
  checkLocation({ operations: [], basePaths: [''], reader }, responseOf(201));
});
