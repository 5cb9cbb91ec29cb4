import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { codePoint, randomValues } from 'test-support/random-values';
import { openStore } from '../../src/stores/index.ts';
import { plantsIn, type Service, serve, TOKEN } from './support/plant-service.ts';

let folder: string;
let path: string;
let service: Service;
let lastId = 0n;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'plants-'));
  path = join(folder, 'plants.db');
  service = await serve({ store: await openStore(`sqlite:${path}`, { maxWaiting: 1_000 }) });
});

afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

async function post(
  body: string | Uint8Array<ArrayBuffer>,
): Promise<{ status: number; answer: unknown }> {
  const response = await fetch(`http://127.0.0.1:${service.port}/plants`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
    body,
  });
  return { status: response.status, answer: await response.json() };
}

/** Returns a JSON string in which every UTF-16 code unit is escaped. */
const escapedUnits = (text: string): string =>
  `"${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;

const anyText = fc.string({ unit: codePoint, maxLength: 60 });

/** Strings that normalization, trimming, C strings, byte order marks or JSON may change. */
const specialText = fc.constantFrom(
  '',
  '\0',
  'a\0b',
  '\uFEFFa',
  ' a ',
  '\r\n',
  'é',
  'e\u0301',
  '\u2028',
  '\uFFFD',
  '\uFFFF',
  '🌱',
  '\u{10FFFF}',
  '"\\',
  'İ',
  'ﬁ',
  '\u202E',
);

const text = fc.oneof(
  anyText,
  fc.array(fc.oneof(specialText, anyText), { maxLength: 4 }).map((parts) => parts.join('')),
);

test('every text is returned and stored exactly', async () => {
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.option(text, { nil: undefined }),
      fc.boolean(),
      async (name, tag, isEscaped) => {
        lastId += 1n;
        const write = isEscaped ? escapedUnits : JSON.stringify;
        const tagMember = tag === undefined ? '' : `,"tag":${write(tag)}`;
        const { status, answer } = await post(`{"id":${lastId},"name":${write(name)}${tagMember}}`);
        expect({ status, answer }).toEqual({
          status: 200,
          answer: { name, ...(tag !== undefined && { tag }) },
        });
        const stored = plantsIn(path).get(lastId);
        expect(stored).toEqual({ name, tag: tag ?? null });
        expect(Buffer.from(String(stored?.name))).toEqual(Buffer.from(name));
      },
    ),
    randomValues(30),
  );
});

test('every text with a lone surrogate is rejected, and nothing is stored', async () => {
  const lone = fc
    .tuple(
      fc.string({ unit: 'grapheme', maxLength: 5 }),
      fc.integer({ min: 0xd800, max: 0xdfff }),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
    )
    .map(([before, unit, after]) => before + String.fromCharCode(unit) + after);
  await fc.assert(
    fc.asyncProperty(lone, fc.constantFrom('name', 'tag'), async (invalid, property) => {
      lastId += 1n;
      const requiredName = property === 'tag' ? '"name":"a",' : '';
      const { status, answer } = await post(
        `{"id":${lastId},${requiredName}"${property}":${escapedUnits(invalid)}}`,
      );
      expect(status).toBe(400);
      expect(answer).toMatchObject({
        error: 400,
        message: expect.stringContaining(`/body/${property}`),
      });
      expect(plantsIn(path).has(lastId)).toBe(false);
    }),
    randomValues(30),
  );
});
