import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Unavailable } from 'group-commit';
import { eventually } from 'test-support/eventually';
import { codePoint, randomValues } from 'test-support/random-values';
import {
  type PlantStore,
  type StoredPlant,
  type StoreOptions,
  Unstorable,
} from '../../../src/stores/store.ts';

export interface StoreUnderTest {
  readonly store: PlantStore;
  /** Opens another store on the same database. The first store may be open or closed. */
  another(): Promise<PlantStore>;
  /** Reads all plants from the database, without the store. */
  read(): Promise<StoredPlant[]>;
  /** Closes all stores, and removes the database. */
  dispose(): Promise<void>;
}

const sorted = (plants: readonly StoredPlant[]): string[] =>
  plants.map(({ id, name, tag }) => JSON.stringify([String(id), name, tag])).toSorted();

/** Tests the contract of PlantStore. @param holdsNul true if the store can hold U+0000 */
export function describeStore(
  name: string,
  open: (options: StoreOptions) => Promise<StoreUnderTest>,
  { holdsNul }: { readonly holdsNul: boolean },
): void {
  describe(`${name} as a store`, () => {
    let underTest: StoreUnderTest;
    let store: PlantStore;

    async function start(options: StoreOptions): Promise<void> {
      underTest = await open(options);
      store = underTest.store;
    }

    /** Checks that the database has these plants, each once, and no others. */
    async function expectStored(...plants: readonly StoredPlant[]): Promise<void> {
      expect(sorted(await underTest.read())).toEqual(sorted(plants));
    }

    const addAll = (plants: readonly StoredPlant[]) =>
      Promise.all(plants.map((plant) => store.add(plant)));

    beforeEach(() => start({ maxWaiting: 1_000 }));
    afterEach(() => underTest.dispose());

    const DIFFERENCES: readonly (readonly [string, StoredPlant, StoredPlant])[] = [
      ['another name', { id: 1n, name: 'Monstera', tag: 'a' }, { id: 1n, name: 'Fern', tag: 'a' }],

      [
        'an empty tag instead of none',
        { id: 1n, name: 'Monstera' },
        { id: 1n, name: 'Monstera', tag: '' },
      ],
      ['an additional backslash', { id: 1n, name: 'a\\101' }, { id: 1n, name: 'a\\\\101' }],

      [
        'another boundary between name and tag',
        { id: 1n, name: 'ab', tag: 'c' },
        { id: 1n, name: 'a', tag: 'bc' },
      ],
      [
        'another end of a long name',
        { id: 1n, name: 'ä'.repeat(50_000) },
        { id: 1n, name: `${'ä'.repeat(49_999)}a` },
      ],
    ];

    test('stores two plants with one id if they differ', async () => {
      const pairs = DIFFERENCES.map(([difference, first, second], at) => {
        const id = BigInt(at);
        return {
          difference,
          plants: [
            { ...first, id },
            { ...second, id },
          ],
        };
      });
      for (const { plants } of pairs) {
        for (const plant of [...plants, ...plants.slice(0, 1)]) await store.add(plant);
      }
      const rows = await underTest.read();
      for (const [at, { difference, plants }] of pairs.entries()) {
        const stored = sorted(rows.filter(({ id }) => id === BigInt(at)));
        expect({ difference, stored }).toEqual({ difference, stored: sorted(plants) });
      }
      expect(rows).toHaveLength(2 * pairs.length);
    });

    test('stores each plant of concurrent adds once, from one store and from two', async () => {
      const other = await underTest.another();
      const plants = Array.from({ length: 40 }, (_, at) => ({
        id: BigInt(at % 8),
        name: `plant ${at % 5}`.repeat(1 + (at % 3) * 1_000),
        ...(at % 4 > 0 && { tag: `${at % 4}` }),
      }));
      const distinct = [...new Map(plants.map((plant) => [sorted([plant])[0], plant])).values()];
      await Promise.all(
        [store, other, store].map((each, at) => {
          const order = at === 1 ? plants.toReversed() : plants;
          return Promise.all(order.map((plant) => each.add(plant)));
        }),
      );
      await expectStored(...distinct);
    });

    test('distinguishes every id of int64 from its neighbours', async () => {
      const ids = [-(2n ** 63n), -(2n ** 53n), 0n, 2n ** 53n, 2n ** 63n - 1n]
        .flatMap((id) => [id - 2n, id - 1n, id, id + 1n, id + 2n])
        .filter((id) => BigInt.asIntN(64, id) === id);
      const plants = ids.map((id) => ({ id, name: `plant ${id}` }));
      for (const plant of [...plants, ...plants]) await store.add(plant);
      await expectStored(...plants);
    });

    test('stores random plants as a map in memory does', async () => {
      const model = new Map<string, StoredPlant>();
      const text = fc.string({ unit: codePoint, maxLength: 40 });
      const plants = fc.array(
        fc.record({
          id: fc.oneof(
            fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
            fc.bigInt({ min: 0n, max: 3n }),
          ),
          name: fc.oneof(text, fc.constantFrom('', 'a')),
          tag: fc.option(fc.oneof(text, fc.constantFrom('', 'a')), { nil: undefined }),
        }),
        { minLength: 1, maxLength: 30 },
      );
      await fc.assert(
        fc.asyncProperty(plants, async (batch) => {
          const outcomes = await Promise.allSettled(batch.map((plant) => store.add(plant)));
          for (const [at, plant] of batch.entries()) {
            if (!holdsNul && `${plant.name}${plant.tag ?? ''}`.includes('\0')) {
              expect(outcomes[at]).toEqual({ status: 'rejected', reason: expect.any(Unstorable) });
            } else {
              expect(outcomes[at]).toEqual({ status: 'fulfilled', value: undefined });
              model.set(JSON.stringify([String(plant.id), plant.name, plant.tag]), plant);
            }
          }
        }),
        randomValues(8),
      );
      expect(model.size).toBeGreaterThan(20);
      await expectStored(...model.values());
    });

    test('stores every code point of Unicode except surrogates', async () => {
      const plants: StoredPlant[] = [];
      for (let first = 0; first < 0x110000; first += 0x4000) {
        const points = Array.from({ length: 0x4000 }, (_, n) => first + n);
        const characters = points.filter(
          (point) => (point < 0xd800 || point > 0xdfff) && (holdsNul || point > 0),
        );
        plants.push({
          id: BigInt(first),
          name: characters.map((point) => String.fromCodePoint(point)).join(''),
          tag: '\u{10ffff}\r\n\t\'";--%s$1\\\u{1f331}',
        });
      }
      await addAll(plants);
      await expectStored(...plants);
    });

    test('rejects a lone surrogate with the name of its property, and stores nothing of it', async () => {
      const invalid: readonly (readonly [string, StoredPlant])[] = [
        ['/body/name', { id: 1n, name: '\ud800' }],
        ['/body/name', { id: 1n, name: 'a\udfffb', tag: '' }],
        ['/body/tag', { id: 1n, name: 'Fern', tag: '\udc00\ud800' }],
      ];
      for (const [property, plant] of invalid) {
        const outcomes = await Promise.allSettled([
          store.add(plant),
          store.add({ id: 2n, name: 'Fern' }),
        ]);
        expect(outcomes).toEqual([
          { status: 'rejected', reason: expect.any(Unstorable) },
          { status: 'fulfilled', value: undefined },
        ]);
        await expect(store.add(plant)).rejects.toThrow(property);
      }
      await expectStored({ id: 2n, name: 'Fern' });
    });

    test('is ready while it is open, also for many concurrent checks', async () => {
      // A check has a time limit, which a busy machine may exceed.
      await eventually(() => Promise.all(Array.from({ length: 50 }, () => store.ready())));
      await store.close();
      await expect(store.ready()).rejects.toThrow(Unavailable);
    });
  });
}
